from __future__ import annotations

from rra.scan.pages import html_lines

PAGE = """<!DOCTYPE html>
<html><head><title>x</title><style>pre { python a.py }</style></head>
<body><script>python evil.py --n 3</script>
<!-- <pre>python old.py</pre> -->
<h2>Fine-tuning</h2>
<pre class="shell">$ python finetune.py --name &quot;a b&quot;
epoch 20 accuracy 92.18</pre>
<p>Run <code>python table.py --latex</code>.</p>
<div class="highlight"><pre><span></span><span class="n">python</span> <span>eval.py</span> --k 3
</pre></div></body></html>
"""


def test_commands_of_a_page_keep_their_lines_and_output_is_told_apart() -> None:
    found = [(line.line, line.text, line.output) for line in html_lines(PAGE)]
    assert found == [
        (6, 'python finetune.py --name "a b"', False),
        (7, "epoch 20 accuracy 92.18", True),
        (8, "python table.py --latex", False),
        (9, "python eval.py --k 3", False),
    ]


def test_exported_notebooks_and_reports_are_no_documents() -> None:
    assert html_lines('<body class="jp-Notebook"><pre>python a.py</pre></body>') == []
