// The stage semantic: what one document decides beyond its schema, a function for each clause.
// A rule gives a list of paths, relative to its object, where its clause is broken.
import { createHash } from 'node:crypto';
import { keyOrder } from './read.mjs';
import {
  binaryNumber, category, convert, groupNames, isBlank, isLess, kindOfUnit, moved, reportedNumber,
  roundsTo,
} from './values.mjs';

const when = (broken, ...path) => (broken ? [path] : []);
const keys = (map) => keyOrder.get(map) ?? Object.keys(map ?? {});
export const entries = (map) => keys(map).map((key) => [key, map[key]]);
export const has = (map, key) => Object.hasOwn(map ?? {}, key);
const list = (items) => [...(items ?? []).entries()];
// The paths of those items of a list that a test finds.
const found = (key, items, test, ...rest) => list(items)
  .filter(([i, item]) => test(item, i)).map(([i]) => [key, i, ...rest]);
export const own = (map, key) => (has(map, key) ? map[key] : undefined);
export const partsOf = (path) => path.split('/').filter((part) => part !== '' && part !== '.');
const lower = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
export const pointer = (path) => path
  .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function apply(rules, object, base, context) {
  return Object.entries(rules).flatMap(([clause, rule]) => rule(object, context)
    .map((path) => ({ clause, pointer: pointer([...base, ...path]) })));
}

// The indexes of items whose key an earlier item has already.
function repeated(items, keyOf) {
  const seen = new Set();
  return list(items).filter(([, item]) => {
    const key = keyOf(item);
    return seen.size === seen.add(key).size;
  }).map(([i]) => i);
}

function isDay(text) {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return year > 0 && day > 0 && day <= days[month - 1];
}

function isMoment(text) {
  const [hour, minute, second] = text.slice(11, 19).split(':').map(Number);
  return isDay(text) && hour < 24 && minute < 60 && second < 60;
}
const noMoments = (object, names) => names
  .filter((key) => has(object, key) && !isMoment(object[key])).map((key) => [key]);

// The nodes that a walk reaches and no walk before it, in the order in which it leaves them.
function walk(edges, start, seen) {
  const left = [];
  const open = seen.has(start) ? [] : [{ node: start, next: 0 }];
  seen.add(start);
  while (open.length) {
    const top = open.at(-1);
    const node = edges.get(top.node)[top.next];
    top.next += 1;
    if (node === undefined) left.push(open.pop().node);
    else if (edges.has(node) && !seen.has(node)) {
      seen.add(node);
      open.push({ node, next: 0 });
    }
  }
  return left;
}

// The largest sets of nodes that reach each other; one alone counts when an edge leads to itself.
function circles(edges) {
  const back = new Map([...edges.keys()].map((node) => [node, []]));
  for (const [node, others] of edges) for (const other of others) back.get(other)?.push(node);
  const seen = new Set();
  const order = [...edges.keys()].flatMap((node) => walk(edges, node, seen)).reverse();
  const taken = new Set();
  return order.map((node) => walk(back, node, taken))
    .filter(([node, ...others]) => node && (others.length || edges.get(node).includes(node)));
}

const manifestRules = {
  'manifest/license-parentheses': ({ license }) => {
    let open = 0;
    let early = false;
    for (const character of license.startsWith('⟦') ? '' : license) {
      open += { '(': 1, ')': -1 }[character] ?? 0;
      early ||= open < 0;
    }
    return when(open !== 0 || early, 'license');
  },
  'manifest/orcid-check-digit': ({ authors }) => found('authors', authors,
    ({ orcid }) => orcid && checkDigit(orcid) !== orcid.at(-1), 'orcid'),
  'manifest/code-root-apart': ({ code }) => when(['data', 'environment', 'evidence', 'guide',
    'launchers', 'outputs'].includes(partsOf(code?.root ?? 'code')[0]), 'code', 'root'),
  'launcher/needs-form-no-circle': ({ launchers }) => {
    const edges = new Map(entries(launchers).map(([id, { needs }]) => [id, needs ?? []]));
    return circles(edges).filter((circle) => circle.length > 1)
      .map((circle) => ['launchers', circle.sort()[0], 'needs']);
  },
  'outcome/no-circle': ({ experiments }) => {
    const edges = new Map(entries(experiments).flatMap(([experiment, { outcomes }]) => (
      entries(outcomes).map(([id, outcome]) => [`${experiment}/${id}`,
        (fitting(outcome).derived?.of ?? []).map((name) => fullName(name, experiment))]))));
    return circles(edges).map((circle) => circle.sort()[0].split('/'))
      .map(([experiment, id]) => ['experiments', experiment, 'outcomes', id, 'derived', 'of']);
  },
};

function checkDigit(orcid) {
  const digits = orcid.replaceAll('-', '').slice(0, 15);
  const sum = [...digits].reduce((total, digit) => (total + Number(digit)) * 2, 0);
  const check = (12 - (sum % 11)) % 11;
  return check === 10 ? 'X' : String(check);
}

const fullName = (name, experiment) => (name.includes('/') ? name : `${experiment}/${name}`);

function reserved(variables, ...base) {
  return keys(variables).filter((name) => name.startsWith('RRA_'))
    .map((name) => [...base, name]);
}

const ACCELERATOR_FACTS = ['runtime', 'min_driver', 'compute_capability', 'memory'];

const environmentRules = {
  'environment/says-what-it-is-built-from': ({ kind, lock, base_image: image }) => when(
    !lock && (['pylock', 'conda', 'renv'].includes(kind) || (kind === 'container' && !image))),
  'environment/as-of-is-a-date': ({ as_of: day }) => when(day && !isDay(day), 'as_of'),
  'environment/as-of-why-has-its-date': ({ as_of: day, as_of_why: why }) => when(why && !day,
    'as_of_why'),
  'environment/no-accelerator-has-no-facts': ({ accelerator }) => when(accelerator?.kind === 'none'
    && ACCELERATOR_FACTS.some((key) => has(accelerator, key)), 'accelerator'),
  'launcher/variables-are-free': ({ variables }) => reserved(variables, 'variables'),
};

const PLACES = ['url', 'doi', 'oci', 'manual'];
const namesOneOf = (sources, places) => (sources ?? [])
  .some((source) => places.some((place) => has(source, place)));

const dataRules = {
  'data/path-is-its-own': ({ path }) => {
    const parts = partsOf(path);
    return when(!parts.length || ['evidence', 'outputs'].includes(parts[0])
      || ['rra.yaml', 'rra.lock'].includes(parts.join('/')), 'path');
  },
  'data/sources-name-one-place': ({ sources }) => found('sources', sources,
    (source) => PLACES.filter((place) => has(source, place)).length !== 1),
  'data/fetched-data-has-a-source': ({ access, sources }) => when(access === 'fetch'
    && !namesOneOf(sources, ['url', 'doi', 'oci'])),
  'data/gated-data-says-where-to-ask': ({ access, sources }) => when(access === 'gated'
    && !namesOneOf(sources, PLACES)),
};

const ENTRY = /\.(?:sh|py|ipynb)$/;
const TYPES = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number'
    && (Number.isSafeInteger(value) || !Number.isInteger(value)),
  integer: (value) => Number.isSafeInteger(value),
};
const fits = (value, { type = 'string' }) => TYPES[type](value);
const isChoice = (value, { choices }) => !choices || choices.includes(value);
const placeOf = (output) => lower(partsOf(output.name ?? output).join('/'));
const isStream = (output) => ['stdout.txt', 'stderr.txt'].includes(placeOf(output));

// Every value that is given to a parameter, as its path, the name of the parameter and the value.
function givenValues({ smoke, reduced, matrix }) {
  const single = [['smoke', smoke], ['reduced', reduced]].flatMap(([key, run]) => entries(
    run?.parameters).map(([name, value]) => [[key, 'parameters', name], name, value]));
  const combined = entries(matrix).flatMap(([name, values]) => values
    .map((value, i) => [['matrix', name, i], name, value]));
  return [...single, ...combined];
}

const launcherRules = {
  'launcher/entry-kind': ({ entry }) => when(!ENTRY.test(entry), 'entry'),
  'launcher/entry-is-apart': ({ entry }) => when(ENTRY.test(entry)
    && ['evidence', 'outputs'].includes(partsOf(entry)[0]), 'entry'),
  'launcher/environment-is-defined': ({ environment }, { manifest }) => when(
    !has(manifest.environments, environment), 'environment'),
  'launcher/needs-are-defined': ({ needs }, { manifest }) => found('needs', needs,
    (id) => !has(manifest.launchers, id)),
  'launcher/needs-not-itself': ({ needs }, { id }) => found('needs', needs,
    (needed) => needed === id),
  'launcher/inputs-are-defined': ({ inputs }, { manifest }) => found('inputs', inputs,
    (id) => !has(manifest.data, id)),
  'launcher/outputs-are-inside': ({ outputs }) => found('outputs', outputs,
    (output) => placeOf(output) === ''),
  'launcher/outputs-differ': ({ outputs }) => repeated(outputs, placeOf)
    .filter((i) => placeOf(outputs[i]) !== '' && !isStream(outputs[i])).map((i) => ['outputs', i]),
  'launcher/streams-are-reserved': ({ outputs, collect }) => [
    ...found('outputs', outputs, isStream),
    ...entries(collect).filter(([, place]) => isStream(place)).map(([from]) => ['collect', from]),
  ],
  'launcher/parameter-variables-differ': ({ parameters }) => {
    const names = [...keys(parameters)].sort();
    return repeated(names, (name) => name.toUpperCase().replaceAll('-', '_'))
      .map((i) => ['parameters', names[i]]);
  },
  'launcher/choices-fit-their-type': ({ parameters }) => entries(parameters)
    .flatMap(([name, parameter]) => list(parameter.choices)
      .filter(([, choice]) => !fits(choice, parameter))
      .map(([i]) => ['parameters', name, 'choices', i])),
  'launcher/defaults-fit-their-type': ({ parameters }) => entries(parameters)
    .filter(([, parameter]) => has(parameter, 'default') && !fits(parameter.default, parameter))
    .map(([name]) => ['parameters', name, 'default']),
  'launcher/default-is-a-choice': ({ parameters }) => entries(parameters)
    .filter(([, parameter]) => has(parameter, 'default') && fits(parameter.default, parameter)
      && !isChoice(parameter.default, parameter))
    .map(([name]) => ['parameters', name, 'default']),
  'launcher/parameters-are-declared': ({ parameters, smoke, reduced, matrix, seeds }) => [
    ...keys(smoke?.parameters).map((name) => [name, 'smoke', 'parameters', name]),
    ...keys(reduced?.parameters).map((name) => [name, 'reduced', 'parameters', name]),
    ...keys(matrix).map((name) => [name, 'matrix', name]),
    ...when(has(seeds, 'parameter'), seeds?.parameter, 'seeds', 'parameter'),
  ].filter(([name]) => !has(parameters, name)).map(([, ...path]) => path),
  'launcher/values-fit-their-parameter': (launcher) => givenValues(launcher)
    .filter(([, name, value]) => {
      const parameter = own(launcher.parameters, name);
      return parameter && !(fits(value, parameter) && isChoice(value, parameter));
    }).map(([path]) => path),
  'launcher/seed-takes-one-way': ({ seeds }) => when(has(seeds, 'parameter')
    && has(seeds, 'variable'), 'seeds'),
  'launcher/seed-parameter-is-an-integer': ({ parameters, seeds }) => when(
    (own(parameters, seeds?.parameter) ?? { type: 'integer' }).type !== 'integer',
    'seeds', 'parameter'),
  'launcher/matrix-leaves-the-seed': ({ matrix, seeds }) => when(has(matrix, seeds?.parameter),
    'matrix', seeds?.parameter),
  'launcher/seeds-or-deterministic': ({ seeds, deterministic }) => when(seeds && deterministic,
    'deterministic'),
  'launcher/variables-are-free': ({ variables, secrets, seeds }) => [
    ...reserved(variables, 'variables'),
    ...found('secrets', secrets, ({ env }) => env.startsWith('RRA_'), 'env'),
    ...when(seeds?.variable?.startsWith('RRA_') && seeds.variable !== 'RRA_SEED',
      'seeds', 'variable'),
  ],
  'launcher/secrets-differ': ({ secrets }) => repeated(secrets, ({ env }) => env)
    .map((i) => ['secrets', i, 'env']),
  'launcher/secrets-have-no-value': ({ secrets, variables, environment }, { manifest }) => {
    const all = { ...own(manifest.environments, environment)?.variables, ...variables };
    return [
      ...['value', 'default'].flatMap((key) => found('secrets', secrets,
        (secret) => has(secret, key), key)),
      ...found('secrets', secrets, ({ env }) => has(all, env), 'env'),
    ];
  },
};

const OF_NUMBERS = ['unit', 'reported_uncertainty', 'direction', 'bounds', 'scale', 'n_items',
  'meaningful_difference', 'tolerance', 'derived', 'predictions'];

// The number that an outcome reports, or undefined where there is none to check.
const numberOf = ({ type, reported }) => (type === 'number' && typeof reported === 'string'
  && !isBlank(reported) ? reportedNumber(reported) : undefined);

const misfits = (outcome) => [
  ...OF_NUMBERS.filter((key) => outcome.type !== 'number' && has(outcome, key)),
  ...['order'].filter((key) => outcome.type !== 'list' && has(outcome, key)),
];

// An outcome without the keys that do not fit its type, of which no other rule says anything.
function fitting(outcome) {
  const refused = misfits(outcome);
  return Object.fromEntries(Object.entries(outcome).filter(([key]) => !refused.includes(key)));
}

const repeatedOperands = ({ derived }, experiment) => repeated(derived?.of,
  (name) => fullName(name, experiment));

// The operands of a derived outcome as index and outcome, without those that are named again;
// an outcome that is undefined is one that is not defined.
function operandsOf(outcome, { manifest, experiment }) {
  const again = repeatedOperands(outcome, experiment);
  return list(outcome.derived?.of).filter(([i]) => !again.includes(i)).map(([i, name]) => {
    const [from, id] = fullName(name, experiment).split('/');
    const defined = own(manifest.experiments, from);
    return { i, outcome: own(defined?.outcomes, id), expands: has(defined, 'table') };
  });
}

const isShare = ({ derived }) => ['ratio', 'percent_change'].includes(derived?.op);

function sameText({ type, reported, order }, observed) {
  if (type === 'category') return category(observed) === category(reported);
  const arrange = (items) => {
    const texts = items.map(category);
    return JSON.stringify(order === 'set' ? [...new Set(texts)].sort() : texts);
  };
  return arrange(observed.split(',')) === arrange(reported);
}

const boundsRules = {
  'outcome/bounds-ordered': ({ bounds }) => when(bounds && !(bounds[0] < bounds[1]), 'bounds'),
};

const outcomeRules = {
  ...boundsRules,
  'outcome/reported-fits-type': ({ type, reported }) => when(
    Array.isArray(reported) !== (type === 'list'), 'reported'),
  'outcome/reported-is-a-number': (outcome) => when(outcome.type === 'number'
    && typeof outcome.reported === 'string' && !isBlank(outcome.reported) && !numberOf(outcome),
  'reported'),
  'outcome/reported-within-bounds': (outcome) => {
    const number = numberOf(outcome);
    if (!number || !(outcome.bounds?.[0] < outcome.bounds?.[1])) return [];
    const [least, greatest] = outcome.bounds.map(binaryNumber);
    return when(isLess(number, moved(least, number, -1n))
      || isLess(moved(greatest, number, 1n), number), 'reported');
  },
  'outcome/log-is-positive': (outcome) => {
    const number = numberOf(outcome);
    return when(outcome.scale === 'log' && number && number.digits <= 0n, 'scale');
  },
  'outcome/derived-arity': ({ derived }) => when(derived
    && (derived.op === 'mean' ? derived.of.length < 2 : derived.of.length !== 2), 'derived', 'of'),
  'outcome/operands-exist': (outcome, context) => operandsOf(outcome, context)
    .filter((operand) => !operand.outcome && !operand.expands).map(({ i }) => ['derived', 'of', i]),
  'outcome/operands-differ': (outcome, { experiment }) => repeatedOperands(outcome, experiment)
    .map((i) => ['derived', 'of', i]),
  'outcome/operands-are-numbers': (outcome, context) => operandsOf(outcome, context)
    .filter((operand) => operand.outcome && operand.outcome.type !== 'number')
    .map(({ i }) => ['derived', 'of', i]),
  'outcome/operand-units': (outcome, context) => {
    const numbers = operandsOf(outcome, context)
      .filter((operand) => operand.outcome?.type === 'number');
    const first = numbers.find(({ i }) => i === 0)?.outcome.unit;
    const target = isShare(outcome) ? first : outcome.unit ?? first;
    return numbers.filter(({ outcome: { unit } }) => !convert(unit, target))
      .map(({ i }) => ['derived', 'of', i]);
  },
  'outcome/ratio-is-a-proportion': (outcome) => when(isShare(outcome)
    && outcome.unit !== undefined && kindOfUnit(outcome.unit) !== 'proportion', 'unit'),
  'outcome/predictions-come-from-a-launcher': ({ predictions, selector }) => when(
    predictions && !selector, 'predictions'),
  'outcome/positive-is-for-binary': ({ predictions }) => when(has(predictions, 'positive')
    && predictions.averaging !== 'binary', 'predictions', 'positive'),
  'outcome/observed-is-a-number': ({ type, deviation }) => when(type === 'number' && deviation
    && !isBlank(deviation.observed) && !reportedNumber(deviation.observed),
  'deviation', 'observed'),
  'outcome/deviation-differs': (outcome) => {
    const { type, reported, deviation } = outcome;
    const unclear = !deviation || isBlank(deviation.observed);
    if (unclear || Array.isArray(reported) !== (type === 'list')) return [];
    const [number, observed] = [numberOf(outcome), reportedNumber(deviation.observed)];
    const same = type === 'number' ? number && observed && roundsTo(observed, number)
      : sameText(outcome, deviation.observed);
    return when(same, 'deviation', 'observed');
  },
};

const typeRules = {
  'outcome/keys-fit-type': (outcome) => misfits(outcome).map((key) => [key]),
};

function runsRead({ runs }, launcher) {
  if (runs === 'all') return Math.max(launcher?.seeds?.values?.length ?? 1, 1);
  return runs?.seeds?.length ?? 1;
}

// The patterns of a selector with their places; in a table names stand for {row} and {column}.
const patternsOf = ({ regex, cell }, { inTable }) => [
  { pattern: regex, path: ['regex'] }, { pattern: cell?.regex, path: ['cell', 'regex'] },
].filter(({ pattern }) => pattern !== undefined).map(({ pattern, path }) => ({
  path, names: groupNames(inTable ? pattern.replace(/\{(?:row|column)\}/g, 'x') : pattern),
}));

const patternRules = {
  'selector/regex-dialect': (selector, context) => patternsOf(selector, context)
    .filter(({ names }) => !names).map(({ path }) => path),
  'selector/regex-value-group': (selector, context) => patternsOf(selector, context)
    .filter(({ names }) => names && !names.has('value')).map(({ path }) => path),
};

const selectorRules = {
  ...patternRules,
  'selector/launcher-is-defined': ({ launcher }, { manifest }) => when(
    !has(manifest.launchers, launcher), 'launcher'),
  'selector/unit-converts': ({ unit }, { outcome }) => when(outcome.type === 'number'
    && !convert(unit, outcome.unit), 'unit'),
  'selector/numbers-only': ({ unit, aggregate = 'single', pick }, { outcome }) => [
    ...when(unit !== undefined, 'unit'),
    ...when(aggregate !== 'single', 'aggregate'),
    ...when(['max', 'min'].includes(pick), 'pick'),
  ].filter(() => outcome.type !== 'number'),
  'selector/seeds-need-seeds': ({ runs }, { launcher }) => when(has(runs, 'seeds') && launcher
    && !launcher.seeds, 'runs', 'seeds'),
  'selector/parameters-are-declared': ({ runs }, { launcher }) => entries(runs?.parameters)
    .filter(([name]) => launcher && !has(launcher.parameters, name))
    .map(([name]) => ['runs', 'parameters', name]),
  'selector/aggregate-fits-runs': (selector, { launcher, outcome }) => {
    const { aggregate = 'single', runs } = selector;
    if (!launcher || (has(runs, 'seeds') && !launcher.seeds)) return [];
    if (outcome.type !== 'number' && aggregate !== 'single') return [];
    const broken = runsRead(selector, launcher) > 1 ? aggregate === 'single'
      : ['sd', 'se'].includes(aggregate);
    return when(broken, has(selector, 'aggregate') ? 'aggregate' : 'runs');
  },
};

export const LOCATORS = ['json', 'csv', 'regex', 'npz', 'cell', 'tensorboard', 'mlflow'];

// A table, and each line and cell of it that can say something of outcomes.
const levelRules = {
  ...boundsRules,
  'table/launcher-is-defined': ({ launcher }, { manifest }) => when(launcher !== undefined
    && !has(manifest.launchers, launcher), 'launcher'),
  'table/selector-names-no-place': ({ selector }) => ['launcher', 'file']
    .filter((key) => has(selector, key)).map((key) => ['selector', key]),
  'table/one-locator': ({ selector }) => when(
    LOCATORS.filter((key) => has(selector, key)).length > 1, 'selector'),
};

const MAX_CELLS = 20000;
const isTooLarge = ({ rows, columns }) => keys(rows).length * keys(columns).length > MAX_CELLS;

// The cells whose ids the manifest alone gives, those of two maps, row by row.
function cellsOf({ rows, columns }) {
  const lists = !rows || !columns || Array.isArray(rows) || Array.isArray(columns);
  if (lists || isTooLarge({ rows, columns })) return [];
  return keys(rows).flatMap((row) => keys(columns)
    .map((column) => ({ id: `${row}-${column}`, path: ['rows', row] })));
}

// The ids that are known to be those of cells.
const idsOf = (table) => (isTooLarge(table) ? []
  : [...new Set([...cellsOf(table).map(({ id }) => id), ...keys(table.cells)])]);

const tableRules = {
  'table/reported-kind': ({ reported }) => when(
    !/\.(?:csv|tsv|md|markdown|tex)$/i.test(reported.split('#')[0]), 'reported'),
  'table/size': (table) => when(isTooLarge(table)),
  'table/id-length': (table) => cellsOf(table).filter(({ id }) => id.length > 63)
    .map(({ path }) => path),
  'table/ids-differ': (table) => {
    const cells = cellsOf(table).sort((a, b) => (a.path[1] < b.path[1] ? -1 : 1));
    return repeated(cells, ({ id }) => id).map((i) => cells[i].path);
  },
};

const experimentRules = {
  'table/ids-are-new': ({ outcomes, table }) => (table ? idsOf(table) : [])
    .filter((id) => has(outcomes, id)).map((id) => ['outcomes', id]),
};

function tableFaults(table, base, manifest) {
  const parts = ['rows', 'columns', 'cells'].flatMap((key) => entries(table[key])
    .map(([id, level]) => [level, [...base, key, id]]));
  const levels = [[table, base], ...parts].filter(([level]) => typeof level === 'object');
  return [
    ...apply(tableRules, table, base),
    ...levels.flatMap(([level, path]) => [
      ...apply(levelRules, level, path, { manifest }),
      ...apply(patternRules, level.selector ?? {}, [...path, 'selector'], { inTable: true }),
    ]),
  ];
}

function experimentFaults(experiment, name, manifest) {
  const base = ['experiments', name];
  const ofOutcomes = entries(experiment.outcomes).flatMap(([id, outcome]) => {
    const path = [...base, 'outcomes', id];
    const { selector } = outcome;
    const launcher = own(manifest.launchers, selector?.launcher);
    return [
      ...apply(typeRules, outcome, path),
      ...apply(outcomeRules, fitting(outcome), path, { manifest, experiment: name }),
      ...(selector ? apply(selectorRules, selector, [...path, 'selector'],
        { manifest, outcome, launcher }) : []),
    ];
  });
  const ofTable = experiment.table
    ? tableFaults(experiment.table, [...base, 'table'], manifest) : [];
  return [...apply(experimentRules, experiment, base), ...ofOutcomes, ...ofTable];
}

function manifestFaults(manifest) {
  const each = (key, rules) => entries(manifest[key])
    .flatMap(([id, object]) => apply(rules, object, [key, id], { manifest, id }));
  return [
    ...apply(manifestRules, manifest, []),
    ...each('environments', environmentRules),
    ...each('data', dataRules),
    ...each('launchers', launcherRules),
    ...entries(manifest.experiments)
      .flatMap(([name, experiment]) => experimentFaults(experiment, name, manifest)),
  ];
}

const settingRules = {
  'settings/code-place': ({ source, where }) => when(source === 'code'
    && !/^[^\s:][^:]*:[1-9][0-9]*/.test(where), 'where'),
};

const repairRules = {
  'repairs/patch-number': ({ patch }, { id }) => when(
    !patch.slice('guide/repairs/'.length).startsWith(id.slice(0, 4)), 'patch'),
  'repairs/neutral-categories': ({ category: kind, effect_on_results: effect }) => when(
    ['path', 'packaging', 'capture'].includes(kind) && effect === 'changes', 'effect_on_results'),
  'repairs/protocol-has-effect': ({ category: kind, effect_on_results: effect }) => when(
    kind === 'protocol' && effect === 'none', 'effect_on_results'),
  'repairs/before-is-not-after': ({ before, after }) => when(before && before === after, 'after'),
  'repairs/verified-names-a-run': ({ verified, after }) => when(verified && !after),
};

const repairsRules = {
  'repairs/number-once': (repairs) => {
    const ids = [...keys(repairs)].sort();
    return repeated(ids, (id) => id.slice(0, 4)).map((i) => [ids[i]]);
  },
};

const NO_NUMBER = /^\p{White_Space}*[-+]?\.?(?:inf|infinity|nan)\p{White_Space}*$/u;
const isOtherKind = (scores, { value }) => Array.isArray(value) !== Array.isArray(scores[0].value);

const referenceRules = {
  'references/finite': ({ scores }) => found('scores', scores, (score) => (
    typeof score.value === 'string' && !isOtherKind(scores, score)
    && NO_NUMBER.test(lower(score.value))), 'value'),
  'references/one-kind': ({ scores }) => found('scores', scores,
    (score) => isOtherKind(scores, score), 'value'),
  'references/run-once': ({ scores }) => repeated(scores, ({ record }) => record)
    .filter((i) => scores[i].record !== undefined).map((i) => ['scores', i, 'record']),
};

// The canonical form of RFC 8785; its order of names is that of the strings of JavaScript.
function canonical(value) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const member = (name) => `${JSON.stringify(name)}:${canonical(value[name])}`;
  return `{${Object.keys(value).sort().map(member).join()}}`;
}

function hasUnsafeInteger(value) {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return value !== null && typeof value === 'object' && Object.values(value).some(hasUnsafeInteger);
}

const canonicalRules = (clause) => ({
  'canonical-json/integers': (value) => when(hasUnsafeInteger(value)),
  [clause]: (value, text) => when(!hasUnsafeInteger(value) && text !== `${canonical(value)}\n`),
});

const EMPTY_ARCHIVE = `sha256:${createHash('sha256').update(Buffer.alloc(1024)).digest('hex')}`;

const lockRules = {
  ...canonicalRules('lock/canonical'),
  'lock/archive-size': ({ elements }) => entries(elements)
    .filter(([, { size, files }]) => size % 512 !== 0 || size < 1024 + 512 * files)
    .map(([name]) => ['elements', name, 'size']),
  'lock/empty-element': ({ elements }) => entries(elements)
    .filter(([, { size, files, diff_id: digest }]) => files === 0 && size === 1024
      && digest !== EMPTY_ARCHIVE)
    .map(([name]) => ['elements', name, 'diff_id']),
};

// Moments as text in the order of time: without the end, and without zeros behind a fraction.
const moment = (text) => text.replace(/(?:\.0+|(\.[0-9]*[1-9])0*)?Z$/, '$1');
const endsEarly = ({ started, ended }) => when(isMoment(started) && isMoment(ended)
  && moment(ended) < moment(started), 'ended');
const timesOf = (...names) => (object) => noMoments(object, names);
const traceTimes = ({ trace }) => noMoments(trace, ['started']).map((path) => ['trace', ...path]);

const recordRules = {
  ...canonicalRules('execution-record/canonical'),
  'execution-record/times': timesOf('started', 'ended'),
  'execution-record/ends-after-start': endsEarly,
  'execution-record/status-fits-termination': ({ termination, exit_code: status }) => when(
    termination === 'ok' ? status !== 0 : ['exit', 'signal'].includes(termination) && status === 0,
    'exit_code'),
  'execution-record/sorted': (record) => ['inputs', 'outputs'].flatMap((key) => found(key,
    record[key], ({ path }, i) => i > 0
      && Buffer.compare(Buffer.from(record[key][i - 1].path), Buffer.from(path)) >= 0, 'path')
    .slice(0, 1)),
  'execution-record/streams-are-outputs': (record) => found('outputs', record.outputs,
    ({ path, sha256 }) => ['stdout.txt', 'stderr.txt'].includes(path)
      && sha256 !== record[path.slice(0, 'stdout'.length)].sha256, 'sha256'),
};

const layerRules = {
  'bundle/uncompressed-is-itself': (layer) => when(!layer.compressor
    && (layer.digest !== layer.diff_id || layer.size !== layer.uncompressed_size)),
  'bundle/raw-is-not-compressed': ({ path, compressor }) => when(path && compressor),
  'bundle/raw-is-one-file': ({ path, files }) => when(path && files !== 1),
  'bundle/part-of-a-file': ({ path, part }) => when(part && !path),
};

const bundleRules = {
  'bundle/manifest-inside': ({ manifest }, schemaFaults) => when(
    schemaFaults('manifest', manifest).length, 'manifest'),
  'bundle/lock-inside': ({ lock }, schemaFaults) => when(schemaFaults('lock', lock).length, 'lock'),
  'bundle/one-core': ({ core, lock }) => when(core !== lock.core, 'core'),
  'bundle/parts-are-whole': ({ layers }) => {
    const raw = list(layers).filter(([, { path }]) => path);
    return [...new Set(raw.map(([, { path }]) => path))].flatMap((path) => {
      const same = raw.filter(([, layer]) => layer.path === path);
      const single = same.length === 1 && !same[0][1].part;
      const whole = same.every(([, { part }], i) => part?.number === i + 1
        && part.of === same.length);
      return when(!single && !whole, 'layers', same[0][0]);
    });
  },
};

// The words of an audit that speak against a value, worst first.
const WORDS = ['TAMPERED', 'HARDCODED', 'LEAKED_REFERENCE', 'CONTRADICTED', 'MISATTRIBUTED',
  'PM_MISMATCH', 'DELTA_ERROR', 'IMPLAUSIBLE', 'SELECTIVE', 'UNIT_SUSPECT', 'DATA_MISMATCH',
  'SEED_MISMATCH', 'STALE', 'INCOMPLETE_RECORD', 'UNEXECUTED', 'UNTRACEABLE', 'AMBIGUOUS',
  'NOT_ASSESSED'];
const SUPPORTED = ['SUPPORTED', 'SUPPORTED_DERIVED'];
const refutes = ({ material, status }) => material && status === 'refuted';

function triggers(word, { findings = [], documented }) {
  return (word === 'CONTRADICTED' && documented) || findings.some((finding) => finding.code === word
    && (refutes(finding) || (finding.material && finding.status === 'uncertain'
      && ['AMBIGUOUS', 'NOT_ASSESSED'].includes(word))));
}

const findingRules = {
  'audit/refuting-word': ({ findings }) => found('findings', findings, (finding) => (
    refutes(finding) && ![...WORDS, ...SUPPORTED].includes(finding.code)), 'code'),
};

const otherTrace = ({ outcome, reported, trace }) => [
  ...when(trace.outcome !== outcome, 'trace', 'outcome'),
  ...when(trace.reported !== reported, 'trace', 'reported'),
];

const auditValueRules = {
  ...findingRules,
  'audit/verdict-is-the-worst': (value) => {
    const worst = WORDS.find((word) => triggers(word, value));
    return when(worst ? value.verdict !== worst : !SUPPORTED.includes(value.verdict), 'verdict');
  },
  'audit/own-run-for-e4': ({ evidence_level: level }, { rerun }) => when(level >= 'E4' && !rerun,
    'evidence_level'),
  'audit/record-for-e3': ({ evidence_level: level, trace }, { rerun }) => when(level >= 'E3'
    && !trace.record && (rerun || level < 'E4'), 'evidence_level'),
  'audit/times': traceTimes,
  'audit/trace-is-of-the-outcome': otherTrace,
};

const auditRules = {
  'audit/one-verdict-each': ({ values }) => repeated(values, ({ outcome }) => outcome)
    .map((i) => ['values', i, 'outcome']),
  'audit/times': timesOf('started', 'ended'),
  'audit/ends-after-start': endsEarly,
};

function seedOf(nonce, launcher, i) {
  const digest = createHash('sha256').update(`${nonce}/${launcher}/${i}`).digest();
  return Number(digest.readBigUInt64BE() % 2147483648n);
}

const planRules = {
  'reproduction/times': timesOf('created'),
  'reproduction/plan-divides-alpha': ({ alpha, outcomes }) => found('outcomes', outcomes,
    (outcome) => Math.abs(outcome.alpha * outcomes.length - alpha) > alpha * 1e-9, 'alpha'),
  'reproduction/plan-outcomes-once': ({ outcomes }) => repeated(outcomes, ({ outcome }) => outcome)
    .map((i) => ['outcomes', i, 'outcome']),
  'reproduction/plan-runs-for-outcomes': ({ outcomes, runs }) => {
    const times = new Map(outcomes.map(({ outcome }) => [outcome, 0]));
    const again = repeated(outcomes, ({ outcome }) => outcome);
    for (const name of runs.flatMap((run) => [...new Set(run.outcomes)])) {
      if (times.has(name)) times.set(name, times.get(name) + 1);
    }
    return [
      ...found('outcomes', outcomes, ({ outcome }, i) => times.get(outcome) !== 1
        && !again.includes(i), 'outcome'),
      ...list(runs).flatMap(([i, run]) => found('outcomes', run.outcomes,
        (name) => !times.has(name)).map((path) => ['runs', i, ...path])),
    ];
  },
  'reproduction/plan-lists-launchers': ({ launchers, runs }) => found('runs', runs,
    ({ launcher }) => !launchers.includes(launcher), 'launcher'),
  'reproduction/plan-seed-for-each-run': ({ runs }) => found('runs', runs,
    (run) => run.seeds.length !== run.reports * run.runs_per_report, 'seeds'),
  'reproduction/seeds-from-the-nonce': ({ nonce, runs }) => list(runs)
    .filter(([, { seeds }]) => seeds.some((seed) => seed !== null))
    .flatMap(([i, { launcher, seeds }]) => found('seeds', seeds,
      (seed, j) => seed !== seedOf(nonce, launcher, j)).slice(0, 1)
      .map((path) => ['runs', i, ...path])),
};

const needsDetail = (verdict) => ['inconclusive', 'could_not_run'].includes(verdict);

const judgedRules = {
  ...findingRules,
  'reproduction/trace-is-of-the-outcome': otherTrace,
  'reproduction/times': traceTimes,
  'reproduction/values-of-the-plan': ({ outcome, values = [] }, { plan }) => {
    const planned = plan.outcomes.find((entry) => entry.outcome === outcome);
    return when(planned && values.length > planned.reports, 'values');
  },
  'reproduction/detail-is-said': ({ verdict, detail }) => when(needsDetail(verdict) && !detail),
  'reproduction/label-says-both': ({ verdict, detail, label }) => when(
    (detail || !needsDetail(verdict))
      && label !== (detail ? `${verdict}(${detail})` : verdict), 'label'),
  'reproduction/reproduced-needs': (outcome) => {
    const { verdict, values, agreement, repeatability, findings } = outcome;
    return when(verdict === 'reproduced' && !(values?.length && agreement === 'pass'
      && ['pass', 'not_assessed'].includes(repeatability) && !findings?.some(refutes)), 'verdict');
  },
};

function combined(verdicts) {
  const words = new Set(verdicts.filter((word) => word !== 'not_assessed'));
  if (words.size <= 1) return [...words][0] ?? 'not_assessed';
  if ([...words].every((word) => ['reproduced', 'deviates_as_documented'].includes(word))) {
    return 'deviates_as_documented';
  }
  if (words.has('reproduced') || words.has('partial')) return 'partial';
  return ['not_reproduced', 'deviates', 'could_not_run', 'inconclusive', 'deviates_as_documented']
    .find((word) => words.has(word));
}

const reaches = ({ level }, least) => /^L/.test(level) && level >= least;

// Whether an outcome has too few fresh values for L3, where the plan names several outcomes.
const hasFewValues = (plan, { outcome, values = [] }) => plan.outcomes.length > 1
  && values.length < 5 && plan.outcomes.some((planned) => planned.outcome === outcome
    && planned.deterministic === false);

const reproductionRules = {
  'reproduction/plan-is-its-own': (reproduction) => ['artifact', 'version', 'core']
    .filter((key) => reproduction.plan[key] !== reproduction[key]).map((key) => ['plan', key]),
  'reproduction/attempt-of-attempts': ({ attempts, plan }) => when(attempts < plan.attempt,
    'attempts'),
  'reproduction/times': timesOf('started', 'ended'),
  'reproduction/ends-after-start': endsEarly,
  'reproduction/every-planned-outcome': ({ outcomes, plan }) => {
    const names = (items) => [...new Set(items.map(({ outcome }) => outcome))].sort().join();
    return when(names(outcomes) !== names(plan.outcomes), 'outcomes');
  },
  'reproduction/outcomes-once': ({ outcomes }) => repeated(outcomes, ({ outcome }) => outcome)
    .map((i) => ['outcomes', i, 'outcome']),
  'reproduction/verdicts-combine': ({ outcomes, experiments, verdict }) => {
    const words = new Map();
    for (const { outcome, verdict: word } of outcomes) {
      const [name] = outcome.split('/');
      if (!words.has(name)) words.set(name, []);
      words.get(name).push(word);
    }
    return [
      ...when([...words.keys()].some((name) => !has(experiments, name)), 'experiments'),
      ...entries(experiments).filter(([name, word]) => word !== combined(words.get(name) ?? []))
        .map(([name]) => ['experiments', name]),
      ...when(verdict !== combined(outcomes.map((outcome) => outcome.verdict)), 'verdict'),
    ];
  },
};

// The first of these that is broken is reported alone.
const levelsRules = {
  'levels/l1-builds': (reproduction) => {
    const { environments } = reproduction;
    const built = environments.length > 0 && environments.every(({ ok }) => ok);
    return when(reaches(reproduction, 'L1') && !built, 'level');
  },
  'levels/l2-runs': (reproduction) => {
    const { plan, runs } = reproduction;
    const all = plan.launchers.every((id) => runs.some((run) => run.launcher === id && run.ok));
    return when(reaches(reproduction, 'L2') && !(all && runs.every(({ ok }) => ok)), 'level');
  },
  'levels/l3-reproduces': (reproduction) => {
    const { plan, outcomes } = reproduction;
    const earned = outcomes.some(({ verdict }) => verdict === 'reproduced')
      && outcomes.every(({ verdict, findings }) => ['reproduced', 'not_assessed'].includes(verdict)
        && !findings?.some(refutes));
    const few = outcomes.some((outcome) => outcome.verdict === 'reproduced'
      && hasFewValues(plan, outcome));
    return when(reaches(reproduction, 'L3') && (!earned || few), 'level');
  },
};

const SUBJECTS = { claims: 'outcome', settings: 'setting', repairs: 'repair', guide: 'command' };

// What a rule finds in every entry of a review, with the path of the entry in front.
const inEntries = (review, rule) => Object.keys(SUBJECTS).flatMap((key) => list(review[key])
  .flatMap(([i, entry]) => rule(entry).map((path) => [key, i, ...path])));

const reviewRules = {
  'review/one-entry-each': (review) => entries(SUBJECTS).flatMap(([key, subject]) => repeated(
    review[key], (entry) => entry[subject]).map((i) => [key, i, subject])),
  'review/times': timesOf('started', 'ended'),
  'review/ends-after-start': endsEarly,
  'review/orcid': ({ reviewer: { orcid } }) => when(orcid && checkDigit(orcid) !== orcid.at(-1),
    'reviewer', 'orcid'),
  'review/supported-needs-a-pointer': (review) => inEntries(review, ({ verdict, pointers }) => when(
    verdict === 'supported' && !pointers?.length)),
  'review/repair-before-and-after': ({ repairs }) => found('repairs', repairs,
    ({ verdict, before, after }) => verdict === 'supported'
      && !(before === 'failed' && after === 'passed'), 'verdict'),
  'review/says-who': ({ reviewer }) => when(!(reviewer.name || reviewer.orcid || reviewer.program
    || reviewer.anonymous), 'reviewer'),
  'review/anonymous-has-no-name': ({ reviewer }) => ['name', 'orcid']
    .filter((key) => reviewer.anonymous && has(reviewer, key)).slice(0, 1)
    .map((key) => ['reviewer', key]),
  'review/names-the-model': (review) => inEntries(review, ({ judged_by: by }) => when(
    by === 'model' && !review.reviewer.model, 'judged_by')),
};

const noticeRules = {
  'notice/times': timesOf('issued'),
  'notice/orcid': ({ issuer: { orcid } = {} }) => when(orcid && checkDigit(orcid) !== orcid.at(-1),
    'issuer', 'orcid'),
  'notice/successor-is-named': ({ kind, superseded_by: next }) => when(
    kind === 'superseded' && !next, 'kind'),
  'notice/successor-of-superseded': ({ kind, superseded_by: next }) => when(
    kind !== 'superseded' && next, 'superseded_by'),
  'notice/successor-is-another': ({ kind, bundle, superseded_by: next }) => when(
    kind === 'superseded' && bundle && next?.bundle === bundle, 'superseded_by', 'bundle'),
  'notice/until-of-an-embargo': ({ kind, until }) => when(kind !== 'embargo' && until, 'until'),
  'notice/until-is-a-day': ({ kind, until }) => when(
    kind === 'embargo' && until && !isDay(until), 'until'),
  'notice/ends-after-issue': ({ kind, until, issued }) => when(kind === 'embargo' && until
    && isDay(until) && isMoment(issued) && until < issued.slice(0, 10), 'until'),
};

const eachEntry = (rules, map) => entries(map)
  .flatMap(([id, object]) => apply(rules, object, [id], { id }));
const eachItem = (rules, key, document) => list(document[key])
  .flatMap(([i, item]) => apply(rules, item, [key, i], document));

const FAULTS = {
  manifest: manifestFaults,
  settings: (settings) => eachEntry(settingRules, settings),
  repairs: (repairs) => [...apply(repairsRules, repairs, []), ...eachEntry(repairRules, repairs)],
  references: (references) => eachEntry(referenceRules, references),
  lock: (lock, text) => apply(lockRules, lock, [], text),
  'execution-record': (record, text) => apply(recordRules, record, [], text),
  'bundle-config': (config, text, schemaFaults) => [
    ...apply(bundleRules, config, [], schemaFaults), ...eachItem(layerRules, 'layers', config)],
  plan: (plan) => apply(planRules, plan, []),
  reproduction: (reproduction) => [
    ...apply(reproductionRules, reproduction, []),
    ...apply(levelsRules, reproduction, []).slice(0, 1),
    ...apply(planRules, reproduction.plan, ['plan']),
    ...eachItem(judgedRules, 'outcomes', reproduction)],
  audit: (audit) => [
    ...apply(auditRules, audit, []), ...eachItem(auditValueRules, 'values', audit)],
  review: (review) => apply(reviewRules, review, []),
  notice: (notice) => apply(noticeRules, notice, []),
};

export function semantics(kind, document, text, schemaFaults) {
  return FAULTS[kind](document, text, schemaFaults);
}

const WARNINGS = {
  repairs: (repairs) => keys(repairs)
    .filter((id, i, ids) => ids.slice(0, i).some((before) => before > id))
    .map((id) => ({ clause: 'repairs/listed-in-order', pointer: pointer([id]) })),
  references: (references) => entries(references).filter(([, { scores }]) => scores.length < 5)
    .map(([id]) => ({ clause: 'references/five-scores', pointer: pointer([id, 'scores']) })),
};

export const semanticWarnings = (kind, document) => WARNINGS[kind]?.(document) ?? [];
