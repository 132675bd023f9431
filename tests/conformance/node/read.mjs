// The stage yaml: the bytes of a document as a value, or the faults of the page documents.
import { Lexer, isAlias, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';

export const YAML_KINDS = ['manifest', 'settings', 'repairs', 'references'];
const YAML_TAG = 'tag:yaml.org,2002:';
const CORE = {
  null: /^(?:null|Null|NULL|~|)$/,
  bool: /^(?:true|True|TRUE|false|False|FALSE)$/,
  int: /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/,
  float: /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/,
  special: /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
};
const MAX_DEPTH = 64;

// The keys of each map in their order, which objects do not keep for names such as "10".
export const keyOrder = new WeakMap();

const NOT_PRINTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]/u;
const RESERVED_CHARACTERS = [
  ['documents/byte-order-mark', /\ufeff/],
  ['documents/characters', NOT_PRINTABLE],
  ['documents/line-breaks', /[\x85\u2028\u2029]/],
  ['documents/bidirectional', /[\u202a-\u202e\u2066-\u2069]/],
];
const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|-?[A-Za-z]+|[{}[\],:]/gs;

// The decimal text of a number in one form, so that equal numbers have equal texts.
function normalDecimal(text) {
  const [, sign, whole, part = '', e = '0'] = /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(text);
  const digits = (whole + part).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  const exponent = Number(e) - part.length + digits.length - short.length;
  return short && `${sign === '-' ? '-' : ''}${short}e${exponent}`;
}

function checkNumber(text, fault) {
  if (CORE.int.test(text)) {
    const value = BigInt(text.replace(/^[-+]/, ''));
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) fault('documents/integer-range', text);
  } else if (!Number.isFinite(Number(text))) fault('documents/finite-numbers', text);
  else if (normalDecimal(text) !== normalDecimal(String(Number(text)))) {
    fault('documents/number-precision', text);
  }
}

function checkText(text, fault) {
  if (text.includes('\0')) fault('documents/no-null-character', 'U+0000');
  if (!text.isWellFormed()) fault('documents/surrogates', 'a surrogate stands alone');
}

function readJson(text, fault) {
  if (text.startsWith('\ufeff')) return fault('documents/json-byte-order-mark', 'U+FEFF');
  const finite = text.replace(JSON_TOKEN, (t) => (/^-?(?:NaN|Infinity)$/.test(t) ? '0' : t));
  if (finite !== text) fault('documents/finite-numbers', 'NaN or Infinity');
  let value;
  try {
    value = JSON.parse(finite);
  } catch (error) {
    return fault('documents/json', error.message);
  }
  const open = [];
  let string;
  for (const [token] of finite.matchAll(JSON_TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (/^[-0-9]/.test(token)) checkNumber(token, fault);
    else if (token[0] === '"') {
      string = JSON.parse(token);
      checkText(string, fault);
    } else if (token === ':') {
      if (open.at(-1).has(string)) fault('documents/duplicate-key', string);
      open.at(-1).add(string);
    }
    if (open.length > MAX_DEPTH) return fault('documents/depth', `more than ${MAX_DEPTH}`);
  }
  return value;
}

// Directives and tabs, which only the tokens show; in flow style and in texts tabs are free.
function checkTokens(text, fault) {
  const tokens = [...new Lexer().lex(text)];
  let flow = 0;
  let before = '';
  const content = tokens.find((token) => !/^(?:[\x02\ufeff]|\s*|#[^]*)$/.test(token));
  if (content === '...') fault('documents/yaml', 'an end in front of the content');
  for (const mark of ['---', '...']) {
    const marks = tokens.filter((token, i) => token === mark && tokens[i - 1] !== '\x1f');
    if (marks.length > 1) fault('documents/one-document', `${mark} stands twice`);
  }
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i];
    if (token === '\x1f') {
      i += 1;
      before = tokens[i].endsWith('\n') ? '' : 'text';
    } else if (/^[ \t]+$/.test(token)) {
      const free = before === '' ? /^(?:#|\r?\n|$)/.test(tokens[i + 1] ?? '') : before !== 'entry';
      if (token.includes('\t') && !flow && !free) fault('documents/tabs', 'tab as indentation');
    } else if (/^\r?\n$/.test(token)) before = '';
    else {
      const version = /^%YAML[ \t]+(\S+)/.exec(token);
      if (version && version[1] !== '1.2') fault('documents/yaml-version', version[1]);
      if (token.startsWith('%TAG')) fault('documents/tags', token);
      if (token === '{' || token === '[') flow += 1;
      if (token === '}' || token === ']') flow -= 1;
      const begins = token === ':' && ['', 'entry'].includes(before);
      before = begins || /^(?:[-?]$|[!|>])/.test(token) ? 'entry' : 'text';
    }
  }
}

function scalarType({ source, tag, type }) {
  const types = Object.keys(CORE).filter((name) => CORE[name].test(source ?? ''));
  if (tag === undefined && type !== 'PLAIN') return 'str';
  if (tag === undefined) return types[0] ?? 'str';
  const name = tag === '!' ? 'str' : tag.replace(YAML_TAG, '');
  if (name === 'str' || types.includes(name)) return name;
  return name === 'float' ? types.find((other) => ['int', 'special'].includes(other)) : undefined;
}

function scalarValue(node, fault) {
  const type = scalarType(node);
  if (type === undefined) fault('documents/tags', node.tag);
  if (type === 'special') fault('documents/finite-numbers', node.source);
  if (type === 'null') return null;
  if (type === 'bool') return /^t/i.test(node.source);
  if (type === 'int' || type === 'float') {
    checkNumber(node.source, fault);
    return Number(node.source);
  }
  checkText(node.value, fault);
  return node.value;
}

// Builds the value of a YAML node; `size` and `height` count aliases as what they stand for.
function build(node, depth, state) {
  const { fault, anchors } = state;
  state.values += 1;
  if (isAlias(node)) {
    state.aliases += 1;
    const target = anchors.get(node.source);
    if (!target) fault('documents/alias-is-defined', node.source);
    else if (!target.size) fault('documents/alias-cycle', node.source);
    else state.expanded += target.size;
    if (depth + (target?.height ?? 0) > MAX_DEPTH) fault('documents/depth', `*${node.source}`);
    return target?.size ? target : { value: null, size: 1, height: 0 };
  }
  const built = { value: null, size: 0, height: 0 };
  if (node?.anchor) anchors.set(node.anchor, built);
  let size = 1;
  const child = (item) => {
    const part = build(item, depth + 1, state);
    size += part.size;
    built.height = Math.max(built.height, part.height + 1);
    return part.value;
  };
  if (isMap(node) || isSeq(node)) {
    if (depth >= MAX_DEPTH) fault('documents/depth', `more than ${MAX_DEPTH}`);
    const fits = [undefined, '!', YAML_TAG + (isMap(node) ? 'map' : 'seq')].includes(node.tag);
    if (!fits) fault('documents/tags', node.tag);
    built.height = 1;
  }
  if (isSeq(node)) built.value = node.items.map(child);
  else if (isMap(node)) {
    const entries = new Map();
    for (const pair of node.items) {
      const key = child(pair.key);
      if (typeof key !== 'string') fault('documents/keys-are-text', String(key));
      if (key === '<<') fault('documents/merge-key', key);
      if (entries.has(key)) fault('documents/duplicate-key', key);
      entries.set(key, child(pair.value));
    }
    built.value = Object.fromEntries(entries);
    keyOrder.set(built.value, [...entries.keys()]);
  } else if (isScalar(node)) built.value = scalarValue(node, fault);
  built.size = size;
  return built;
}

function readYaml(marked, fault) {
  const text = marked.replace(/^\ufeff/, '').replace(/\r(?!\n)/g, '\n');
  const [reserved] = RESERVED_CHARACTERS
    .map(([clause, characters]) => ({ clause, found: characters.exec(text) }))
    .filter(({ found }) => found).sort((a, b) => a.found.index - b.found.index);
  if (reserved) {
    const [character] = reserved.found;
    return fault(reserved.clause, `U+${character.codePointAt(0).toString(16).padStart(4, '0')}`);
  }
  checkTokens(text, fault);
  const options = { schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false };
  const documents = parseAllDocuments(text, options)
    .filter(({ contents, directives }) => directives.docStart
      || (contents && (contents.type !== 'PLAIN' || contents.source !== '')));
  const clauses = { TAB_AS_INDENT: 'documents/tabs', TAG_RESOLVE_FAILED: 'documents/tags' };
  for (const error of documents.flatMap((document) => document.errors)) {
    fault(clauses[error.code] ?? 'documents/yaml', error.message);
  }
  if (documents.length > 1) fault('documents/one-document', `${documents.length} documents`);
  if (!documents.length) return fault('documents/not-empty', 'nothing is said');
  const state = { fault, anchors: new Map(), values: 0, aliases: 0, expanded: 0 };
  const { value } = build(documents[0].contents, 0, state);
  if (value === null) fault('documents/not-empty', 'nothing is said');
  if (state.aliases > 100) fault('documents/alias-limit', `${state.aliases}`);
  if (state.expanded > 10000) fault('documents/alias-expansion', `${state.expanded}`);
  if (state.values > 500000) fault('documents/value-limit', `${state.values}`);
  return value;
}

export function read(bytes, kind, fault) {
  const yaml = YAML_KINDS.includes(kind);
  if (bytes.length > (yaml ? 4194304 : 67108864)) return fault('documents/size', bytes.length);
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fault('documents/utf-8', 'the bytes are not UTF-8');
  }
  try {
    return { text, value: yaml ? readYaml(text, fault) : readJson(text, fault) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fault('documents/depth', 'nested too deep to be read');
  }
}
