"""The rules, one module each; `rra.lint.rule.rules` finds them."""
