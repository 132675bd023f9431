// Second validator of RRA documents, from the specification: stages yaml, schema and semantic.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv/dist/2020.js';
import { YAML_KINDS, read } from './read.mjs';
import { semantics } from './semantics.mjs';

const SCHEMAS = process.env.RRA_SCHEMAS
  ?? fileURLToPath(new URL('../../../schemas/v1/', import.meta.url));
const JSON_KINDS = ['lock', 'execution-record', 'bundle-config', 'plan', 'reproduction', 'audit',
  'review'];

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
    return { ...schema, ...target };
  }
  if (!Array.isArray(schema.oneOf) || !schema.oneOf.every(({ type }) => type)) return schema;
  const { oneOf, ...others } = schema;
  const allOf = oneOf.map((then) => ({ if: { type: then.type }, then }));
  return { ...others, type: oneOf.map(({ type }) => type), allOf };
}

// Each part of a schema with the one that it stands in, for clauses that are named further out.
const outer = new WeakMap();
function linkParts(schema) {
  for (const part of Object.values(schema)) {
    if (part === null || typeof part !== 'object') continue;
    outer.set(part, schema);
    linkParts(part);
  }
}

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });
const schemas = Object.fromEntries([...YAML_KINDS, ...JSON_KINDS].map((kind) => {
  const source = JSON.parse(readFileSync(`${SCHEMAS}/${kind}.schema.json`, 'utf8'));
  const schema = writtenOut(source, source.$defs);
  linkParts(schema);
  return [kind, ajv.compile(schema)];
}));

function clauseOf(schema, keyword) {
  for (let part = schema; part; part = outer.get(part)) {
    const named = part['x-clause'];
    if (typeof named === 'string') return named;
    const clause = (part === schema && named?.[keyword]) || named?.['*'];
    if (clause) return clause;
  }
  throw new Error(`no clause for ${keyword}`);
}

export function schemaFaults(kind, value) {
  const faults = new Map();
  schemas[kind](value);
  const errors = schemas[kind].errors ?? [];
  const wrongType = new Set(errors.filter((e) => e.keyword === 'type').map((e) => e.instancePath));
  for (const { keyword, instancePath, parentSchema, schemaPath, message } of errors) {
    const follows = ['if', 'propertyNames'].includes(keyword)
      || /\/(?:one|any)Of\//.test(schemaPath)
      || (['enum', 'const'].includes(keyword) && wrongType.has(instancePath));
    if (follows) continue;
    const clause = clauseOf(parentSchema, keyword);
    faults.set(`${clause} ${instancePath}`, { clause, pointer: instancePath, message });
  }
  return [...faults.values()];
}

// Decides a document by stages; the answer names the first stage that has faults, and all of them.
export function validate(bytes, kind) {
  const found = [];
  const fault = (clause, message) => {
    const known = found.some((other) => other.clause === clause);
    if (!known) found.push({ clause, pointer: '', message });
  };
  const document = read(bytes, kind, fault);
  if (found.length) return { verdict: 'invalid', stage: 'yaml', faults: found };
  for (const [stage, faults] of [
    ['schema', () => schemaFaults(kind, document.value)],
    ['semantic', () => semantics(kind, document.value, document.text, schemaFaults)],
  ]) {
    const list = faults();
    if (list.length) return { verdict: 'invalid', stage, faults: list };
  }
  return { verdict: 'valid', faults: [] };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , kind, file] = process.argv;
  const answer = validate(readFileSync(file), kind);
  console.log(JSON.stringify(answer, null, 2));
  process.exitCode = answer.faults.length ? 1 : 0;
}
