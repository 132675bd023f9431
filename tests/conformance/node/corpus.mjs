// Runs the validator over the conformance corpus: node corpus.mjs DIR [--json]
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { validate } from './validate.mjs';

const STAGES = ['yaml', 'schema', 'semantic', 'artifact'];
const PARTS = { 'rra.yaml': 'manifest', 'guide/settings.yaml': 'settings', 'rra.lock': 'lock',
  'guide/repairs.yaml': 'repairs' };

function folders(path) {
  return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
}

// The documents of a case with their kinds; an artifact has several.
function documents(folder, { document, file }) {
  if (document !== 'artifact') return [[join(folder, file), document]];
  const records = folders(join(folder, 'evidence')).flatMap(folders)
    .map((run) => [join(run, 'record.json'), 'execution-record']);
  return [...Object.entries(PARTS).map(([name, kind]) => [join(folder, name), kind]), ...records]
    .filter(([path]) => existsSync(path));
}

// Why a case disagrees, or undefined; what only the artifact decides has to be valid before.
function disagreement(folder, expected) {
  const answers = documents(folder, expected)
    .map(([path, kind]) => validate(readFileSync(path), kind));
  const found = answers.find(({ verdict }) => verdict === 'invalid');
  const text = JSON.stringify(found);
  if (expected.verdict === 'valid' || expected.stage === 'artifact') {
    return found && `found ${text}`;
  }
  if (!found) return 'nothing found';
  if (found.stage !== expected.stage) return `other stage ${text}`;
  const { clause, pointer } = expected;
  const named = found.faults.some((fault) => fault.clause === clause && fault.pointer === pointer);
  return named ? undefined : `not ${clause} at "${pointer}" but ${text}`;
}

function run(root) {
  const counts = Object.fromEntries(STAGES.map((stage) => [stage, { cases: 0, agree: 0 }]));
  const disagreements = [];
  for (const verdict of ['valid', 'invalid']) {
    for (const folder of folders(join(root, verdict)).flatMap(folders).sort()) {
      const expected = parse(readFileSync(join(folder, 'expect.yaml'), 'utf8'));
      const why = disagreement(folder, expected);
      counts[expected.stage].cases += 1;
      if (why) disagreements.push({ case: folder, stage: expected.stage, why });
      else counts[expected.stage].agree += 1;
    }
  }
  return { counts, disagreements };
}

const [root] = process.argv.slice(2).filter((argument) => argument !== '--json');
const { counts, disagreements } = run(root);
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ counts, disagreements }, null, 2));
} else {
  for (const { case: name, why } of disagreements) console.log(`${name}: ${why}`);
  for (const [stage, { cases, agree }] of Object.entries(counts)) {
    console.log(`${stage}: ${agree} of ${cases} cases agree`);
  }
}
process.exitCode = disagreements.length ? 1 : 0;
