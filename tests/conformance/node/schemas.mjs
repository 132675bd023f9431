// The stage schema: JSON Schema, and the way from what fails in it to clause and pointer.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv/dist/2020.js';
import { YAML_KINDS } from './read.mjs';

const SCHEMAS = process.env.RRA_SCHEMAS
  ?? fileURLToPath(new URL('../../../schemas/v1/', import.meta.url));
const JSON_KINDS = ['lock', 'execution-record', 'bundle-config', 'plan', 'reproduction', 'audit',
  'review', 'notice'];
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const asMap = (named) => (typeof named === 'string' ? { '*': named } : named ?? {});

// The clauses of a definition, then those beside the reference for keywords that it has none for.
function bothClauses(beside, defined) {
  const clauses = asMap(defined);
  return clauses['*'] ? clauses : { ...asMap(beside), ...clauses };
}

// The schema with each definition written out where it is referred to, and with alternatives of
// different types as a choice by type; so an error has one place, and is of one alternative.
function writtenOut(part, definitions) {
  if (part === null || typeof part !== 'object') return part;
  if (Array.isArray(part)) return part.map((item) => writtenOut(item, definitions));
  const { $ref, $defs, ...rest } = part;
  const entries = Object.entries(rest).map(([key, value]) => [key, writtenOut(value, definitions)]);
  const schema = Object.fromEntries(entries);
  if ($ref) {
    const target = writtenOut(definitions[$ref.slice('#/$defs/'.length)], definitions);
    const clauses = bothClauses(schema['x-clause'], target['x-clause']);
    return { ...schema, ...target, 'x-clause': clauses };
  }
  if (!Array.isArray(schema.oneOf)) return schema;
  const types = schema.oneOf.map(({ type }) => type);
  if (types.includes(undefined) || new Set(types).size < types.length) return schema;
  const { oneOf, ...others } = schema;
  const allOf = oneOf.map((then) => ({ if: { type: then.type }, then }));
  return { ...others, type: types, allOf, 'x-alternatives': true };
}

const MAPS = ['properties', 'patternProperties'];
const LISTS = ['oneOf', 'anyOf', 'allOf'];
const SINGLE = ['items', 'additionalProperties', 'propertyNames', 'not', 'then'];

// Each part of a schema with the one that it stands in, and the keyword through which.
const outer = new WeakMap();
function linkParts(schema) {
  const link = (keyword, part) => {
    if (!isObject(part)) return;
    outer.set(part, { schema, keyword });
    linkParts(part);
  };
  for (const keyword of MAPS) Object.values(schema[keyword] ?? {}).forEach((p) => link(keyword, p));
  for (const keyword of LISTS) (schema[keyword] ?? []).forEach((part) => link(keyword, part));
  for (const keyword of SINGLE) link(keyword, schema[keyword]);
}

// The clause of a keyword, looked for outwards; a choice by type stands for `oneOf`.
function clauseOf(schema, keyword) {
  const chosen = schema['x-alternatives'] && ['type', 'allOf'].includes(keyword);
  const clauses = asMap(schema['x-clause']);
  const clause = clauses[chosen ? 'oneOf' : keyword] ?? clauses['*'];
  if (clause) return clause;
  const around = outer.get(schema);
  if (!around) throw new Error(`no clause for ${keyword}`);
  return clauseOf(around.schema, around.keyword);
}

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });

function prepared(source) {
  const schema = writtenOut(source, source.$defs);
  linkParts(schema);
  return { schema, check: ajv.compile(schema) };
}

const schemas = Object.fromEntries([...YAML_KINDS, ...JSON_KINDS].map((kind) => [
  kind, prepared(JSON.parse(readFileSync(`${SCHEMAS}/${kind}.schema.json`, 'utf8')))]));

const isUnknown = (key, { properties }) => !Object.hasOwn(properties ?? {}, key)
  && !key.startsWith('x-');

// Whether an error says no more than that a word of an open list is not known.
function isOpenWord({ keyword, parentSchema, data }) {
  if (parentSchema['x-open'] !== keyword) return false;
  if (!isObject(data)) return typeof data === 'string';
  const words = parentSchema[keyword].flatMap(({ required }) => required);
  return !words.some((word) => Object.hasOwn(data, word))
    && Object.keys(data).some((key) => isUnknown(key, parentSchema));
}

function distinct(marks) {
  return [...new Map(marks.map((mark) => [`${mark.clause} ${mark.pointer}`, mark])).values()];
}

// Faults of a value, and the open words in it that a newer minor number may have brought.
function checked({ check }, value, isNewer) {
  check(value);
  const errors = check.errors ?? [];
  const wrongType = errors.filter(({ keyword }) => keyword === 'type');
  const isEcho = ({ keyword, parentSchema, instancePath }) => keyword !== 'type' && wrongType.some(
    (other) => other.parentSchema === parentSchema && other.instancePath === instancePath);
  const meant = errors.filter((error) => !(['if', 'propertyNames'].includes(error.keyword)
    || /\/(?:one|any)Of\//.test(error.schemaPath) || isEcho(error)));
  const words = isNewer ? meant.filter(isOpenWord) : [];
  return {
    words: words.map(({ instancePath: pointer }) => (
      { clause: 'versioning/unknown-words', pointer })),
    faults: distinct(meant.filter((error) => !words.includes(error))
      .map(({ keyword, parentSchema, instancePath: pointer, message }) => (
        { clause: clauseOf(parentSchema, keyword), pointer, message }))),
  };
}

// Warnings of keys that are not known or are to go.
function keyWarnings(schema, value, pointer) {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => keyWarnings(schema.items ?? {}, item, `${pointer}/${i}`));
  }
  if (!isObject(value)) return [];
  const { properties, additionalProperties: others, allOf = [] } = schema;
  const chosen = allOf.flatMap(({ if: test, then, ...all }) => (
    test && test.type !== 'object' ? [] : keyWarnings(then ?? all, value, pointer)));
  return [...chosen, ...Object.entries(value).flatMap(([key, item]) => {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const known = Object.hasOwn(properties ?? {}, key) ? properties[key] : undefined;
    const clause = known?.deprecated ? 'versioning/deprecated-fields' : 'documents/unknown-key';
    const isNamed = !known && (isObject(others) || !properties || !isUnknown(key, schema));
    return [
      ...(isNamed || (known && !known.deprecated) ? [] : [{ clause, pointer: at }]),
      ...keyWarnings(known ?? (isObject(others) ? others : {}), item, at),
    ];
  })];
}

// What the stage schema says of a document: faults and warnings.
export function schemaAnswer(kind, value) {
  const { schema } = schemas[kind];
  const version = schema.properties?.rra && isObject(value) && typeof value.rra === 'string'
    ? /^([0-9]+)\.([0-9]+)$/.exec(value.rra) : null;
  const [major, minor] = (version ?? []).slice(1).map(Number);
  const isNewer = major === 1 && minor > 0;
  const { faults, words } = checked(schemas[kind], value, isNewer);
  const ofVersion = faults.filter(({ pointer }) => pointer === '/rra');
  if (major > 1) return { faults: ofVersion, warnings: [] };
  const newer = isNewer ? [{ clause: 'versioning/newer-minor', pointer: '/rra' }] : [];
  return { faults, warnings: [...newer, ...distinct(words), ...keyWarnings(schema, value, '')] };
}
