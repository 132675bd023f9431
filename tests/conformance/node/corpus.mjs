// Runs the validator over the conformance corpus: node corpus.mjs DIR [--json]
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { outputFaults } from './outputs.mjs';
import { validate } from './validate.mjs';

const STAGES = ['yaml', 'schema', 'semantic', 'artifact'];
const PARTS = { 'rra.yaml': 'manifest', 'guide/settings.yaml': 'settings', 'rra.lock': 'lock',
  'guide/repairs.yaml': 'repairs' };

function folders(path) {
  return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
}

const named = ({ clause, pointer }) => `${clause} at "${pointer}"`;
const texts = (marks = []) => [...new Set(marks.map(named))].sort();

// The answer about an artifact. A document of it that is invalid decides at its own stage; what
// is wrong in a record of the evidence is a fault of the artifact. Most of that stage is not seen.
function ofArtifact(folder) {
  const answers = Object.entries(PARTS).map(([name, kind]) => [join(folder, name), kind])
    .filter(([path]) => existsSync(path)).map(([path, kind]) => validate(readFileSync(path), kind));
  const broken = answers.find(({ verdict }) => verdict === 'invalid');
  if (broken) return broken;
  const records = folders(join(folder, 'evidence')).flatMap(folders)
    .map((run) => join(run, 'record.json')).filter(existsSync)
    .map((path) => validate(readFileSync(path), 'execution-record'));
  const faults = [...records.flatMap((answer) => answer.faults), ...outputFaults(answers[0].value)];
  const warnings = [...answers, ...records].flatMap((answer) => answer.warnings);
  return { verdict: faults.length ? 'invalid' : 'valid', stage: 'artifact', faults, warnings };
}

function answerOf(folder, { document, file }) {
  if (document === 'artifact') return ofArtifact(folder);
  return validate(readFileSync(join(folder, file)), document);
}

// Whether the faults are those that are expected. Of the stage yaml one is enough; of that of the
// artifact none is, as long as no other is found, but for the clause that this validator has.
function fits({ faults }, wanted, stage) {
  const marks = faults.map(named);
  if (stage === 'yaml' && marks.length) return wanted.includes(marks[0]);
  const isDecided = wanted.some((mark) => mark.startsWith('selector/file-is-an-output '));
  if (stage === 'artifact' && !isDecided) return marks.every((mark) => wanted.includes(mark));
  return texts(faults).join() === wanted.join();
}

// Why an answer disagrees, or undefined.
function disagreement(answer, expected) {
  const { stage, verdict, document } = expected;
  const wanted = verdict === 'valid' ? [] : texts([expected, ...expected.also ?? []]);
  const found = `${answer.stage}: ${texts(answer.faults).join(', ')}`;
  if (verdict !== answer.verdict && stage !== 'artifact') return `not ${verdict} but ${found}`;
  if (answer.faults.length && answer.stage !== stage) return `other stage: ${found}`;
  if (!fits(answer, wanted, stage)) return `not ${wanted.join(', ')} but ${found}`;
  if (document === 'artifact') return undefined;
  const warnings = texts(answer.warnings);
  const listed = texts(expected.warnings);
  const others = listed.filter((mark) => !warnings.includes(mark)).length
    || (verdict === 'valid' && warnings.length > listed.length);
  return others ? `warnings: ${warnings.join(', ') || 'none'}` : undefined;
}

function* casesOf(root) {
  for (const verdict of ['valid', 'invalid']) {
    for (const folder of folders(join(root, verdict)).flatMap(folders).sort()) {
      const expected = parse(readFileSync(join(folder, 'expect.yaml'), 'utf8'));
      yield { name: folder, expected, answer: answerOf(folder, expected) };
    }
  }
}

// The documents that are described, because they are too large to be kept.
function* limitsOf(root) {
  const file = join(root, 'vectors/limits/limits.json');
  for (const limit of existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []) {
    const { name, document, parts, bytes, expect } = limit;
    const text = Buffer.from(parts.map((part) => part.text.repeat(part.times)).join(''));
    if (text.length !== bytes) throw new Error(`${name} has ${text.length} bytes`);
    yield { name, expected: { ...expect, document }, answer: validate(text, document) };
  }
}

function run(root) {
  const none = () => ({ cases: 0, agree: 0, undecided: 0 });
  const counts = Object.fromEntries(STAGES.map((stage) => [stage, none()]));
  const limits = none();
  const disagreements = [];
  const enter = ({ name, expected, answer }, count) => {
    const why = disagreement(answer, expected);
    count.cases += 1;
    if (why) disagreements.push({ case: name, stage: expected.stage, why });
    else count.agree += 1;
    if (!why && answer.verdict !== expected.verdict) count.undecided += 1;
  };
  for (const entry of casesOf(root)) enter(entry, counts[entry.expected.stage]);
  for (const entry of limitsOf(root)) enter(entry, limits);
  return { counts, limits, disagreements };
}

const [root] = process.argv.slice(2).filter((argument) => argument !== '--json');
const { counts, limits, disagreements } = run(root);
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ counts, limits, disagreements }, null, 2));
} else {
  for (const { case: name, why } of disagreements) console.log(`${name}: ${why}`);
  for (const [stage, { cases, agree, undecided }] of Object.entries({ ...counts, limits })) {
    const open = undecided ? `, ${undecided} of them without the fault, not looked for` : '';
    console.log(`${stage}: ${agree} of ${cases} cases agree${open}`);
  }
}
process.exitCode = disagreements.length ? 1 : 0;
