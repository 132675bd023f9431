// Second validator of RRA documents, from the specification: stages yaml, schema and semantic.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { read } from './read.mjs';
import { schemaAnswer } from './schemas.mjs';
import { semanticWarnings, semantics } from './semantics.mjs';

const faultsOf = (kind, value) => schemaAnswer(kind, value).faults;

// Decides a document by stages; the answer names the first stage that has faults, and all of them.
export function validate(bytes, kind) {
  const found = [];
  const fault = (clause, message) => {
    const known = found.some((other) => other.clause === clause);
    if (!known) found.push({ clause, pointer: '', message });
  };
  const document = read(bytes, kind, fault);
  if (found.length) return { verdict: 'invalid', stage: 'yaml', faults: found, warnings: [] };
  const { value, text } = document;
  const { faults, warnings } = schemaAnswer(kind, value);
  if (faults.length) return { verdict: 'invalid', stage: 'schema', faults, warnings };
  const broken = semantics(kind, value, text, faultsOf);
  warnings.push(...semanticWarnings(kind, value));
  if (broken.length) return { verdict: 'invalid', stage: 'semantic', faults: broken, warnings };
  return { verdict: 'valid', faults: [], warnings, value };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , kind, file] = process.argv;
  const { value, ...answer } = validate(readFileSync(file), kind);
  console.log(JSON.stringify(answer, null, 2));
  process.exitCode = answer.faults.length ? 1 : 0;
}
