// Of the stage artifact, what the manifest alone decides: selector/file-is-an-output.
import { LOCATORS, entries, has, own, partsOf, pointer } from './semantics.mjs';

const FOLDER_LOCATORS = ['tensorboard', 'mlflow'];
const WILDCARD = /[*?[]/;
const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

// The characters of a set, of which a falling range is none.
const setOf = (text) => text.replace(/([^])-([^])|[^]/gu, (all, first, last) => {
  if (first === undefined) return literal(all);
  return first.codePointAt(0) > last.codePointAt(0) ? '' : `${literal(first)}-${literal(last)}`;
});

// A part of a pattern as a regular expression; a bracket that is not closed stands for itself.
function partExpression(part) {
  const tokens = part.match(/\[!?[^\]]+\]|[^]/gu) ?? [];
  const source = tokens.map((token) => {
    if (token === '*') return '[^]*';
    if (token === '?') return '[^]';
    const set = /^\[(!?)([^\]]+)\]$/u.exec(token);
    return set ? `[${set[1] && '^'}${setOf(set[2])}]` : literal(token);
  });
  return new RegExp(`^${source.join('')}$`, 'u');
}

// How a path lies to what a pattern matches: `inside` it or below, in a folder `above`, or not.
function place(pattern, path) {
  const reach = (at) => (pattern[at] === '**' ? [at, ...reach(at + 1)] : [at]);
  const end = pattern.length;
  const expressions = pattern.map(partExpression);
  let states = reach(0);
  for (const part of path) {
    if (states.includes(end)) return 'inside';
    const next = states.flatMap((at) => {
      if (pattern[at] === '**') return reach(at);
      return expressions[at].test(part) ? reach(at + 1) : [];
    });
    states = [...new Set(next)];
  }
  if (states.includes(end)) return 'inside';
  return states.length ? 'above' : undefined;
}

const begins = (path, first) => first.every((part, i) => part === path[i]);

// What a pattern of `collect` leaves in the output directory itself.
function collectedAtTop(pattern, path) {
  const first = pattern.findIndex((part) => WILDCARD.test(part));
  if (first >= 0) return place(pattern.slice(first), path) === 'inside';
  const last = pattern.at(-1) ?? '';
  return !/[^]\.[^]/u.test(last) || (path.length === 1 && path[0] === last);
}

function mayLeave({ entry, outputs = [], collect }, file, readsFolders) {
  const path = partsOf(file);
  if (!path.length) return readsFolders && outputs.length + entries(collect).length > 0;
  const alone = ['stdout.txt', 'stderr.txt', ...(entry.endsWith('.ipynb')
    ? partsOf(entry).slice(-1) : [])];
  if (path.length === 1 && alone.includes(path[0])) return true;
  const wanted = ['inside', ...(readsFolders ? ['above'] : [])];
  if (outputs.some((output) => wanted.includes(place(partsOf(output.name ?? output), path)))) {
    return true;
  }
  return entries(collect).some(([pattern, to]) => {
    const parts = partsOf(to);
    if (!parts.length) return collectedAtTop(partsOf(pattern), path);
    return begins(path, parts) || (readsFolders && begins(parts, path));
  });
}

const readsFolders = (selector) => FOLDER_LOCATORS.some((key) => has(selector, key));

// A locator of a later version may read files or folders, so its file is not asked.
function ofOutcome({ selector, predictions }, launchers) {
  const launcher = own(launchers, selector?.launcher);
  if (!launcher) return [];
  const isKnown = LOCATORS.some((key) => has(selector, key));
  return [
    [['selector', 'file'], isKnown && !mayLeave(launcher, selector.file, readsFolders(selector))],
    [['predictions', 'file'], predictions && !mayLeave(launcher, predictions.file, false)],
  ].filter(([, broken]) => broken).map(([path]) => path);
}

// Of a table only the file that all of its cells read, whichever of them are compared.
function ofTable(table, launchers) {
  const parts = ['rows', 'columns', 'cells'].flatMap((key) => Object.values(table[key] ?? {}));
  const differs = parts.some((part) => has(part, 'launcher') || has(part, 'file'));
  if (differs || /\{(?:row|column)\}/.test(table.file)) return [];
  const folders = [table, ...parts].some(({ selector }) => readsFolders(selector));
  const launcher = own(launchers, table.launcher);
  return mayLeave(launcher, table.file, folders) ? [] : [['file']];
}

export function outputFaults({ experiments, launchers }) {
  return entries(experiments).flatMap(([name, { outcomes, table }]) => [
    ...entries(outcomes).flatMap(([id, outcome]) => ofOutcome(outcome, launchers)
      .map((path) => ['outcomes', id, ...path])),
    ...(table ? ofTable(table, launchers).map((path) => ['table', ...path]) : []),
  ].map((path) => ({
    clause: 'selector/file-is-an-output', pointer: pointer(['experiments', name, ...path]),
  })));
}
