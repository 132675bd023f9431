// Numbers, units and patterns as the pages outcome and selector define them.

const PLAIN = String.raw`(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?`;
const MARKED = String.raw`\d{1,3}(?:[\u00a0\u2007\u2009\u202f'\u2019]\d{3})+(?:\.\d+)?`;
const COMMAS = String.raw`[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)`;
const REPORTED = new RegExp(`^[-+\u2212\u2013]?(?:${PLAIN}|${MARKED}|${COMMAS})$`);

// White space as Unicode has it, which is not quite what trim() takes away.
const trimmed = (text) => text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '');

export const isBlank = (text) => text.includes('⟦fill');

// A decimal number as `digits`, a BigInt, and `decimals`, the digits behind the point.
function decimal(text) {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e');
  const plain = mantissa.replace(/[\u2212\u2013]/, '-').replace(/[^-.\d]/g, '');
  const [whole, part = ''] = plain.split('.');
  return { digits: BigInt(`${whole}${part}`), decimals: part.length - Number(exponent) };
}

// The number that a reported text says, or undefined where the grammar does not allow it.
export function reportedNumber(text) {
  if (!REPORTED.test(text)) return undefined;
  const [mantissa, exponent = '0'] = text.split(/e/i);
  if (mantissa.length > 400 || Math.abs(Number(exponent)) > 400) return undefined;
  return decimal(text);
}

export const binaryNumber = (number) => decimal(String(number));

const scaled = ({ digits, decimals }, scale) => digits * 10n ** BigInt(scale - decimals);

export function isLess(a, b) {
  const scale = Math.max(a.decimals, b.decimals);
  return scaled(a, scale) < scaled(b, scale);
}

// A number moved by half a unit in the last decimal of another one, up (1n) or down (-1n).
export function moved(number, last, direction) {
  const scale = Math.max(number.decimals, last.decimals + 1);
  const half = 5n * 10n ** BigInt(scale - last.decimals - 1);
  return { digits: scaled(number, scale) + direction * half, decimals: scale };
}

// Whether rounding to the decimals of the reported number gives it, ties away from zero or to even.
export function roundsTo(value, reported) {
  const scale = Math.max(value.decimals, reported.decimals);
  const exact = scaled(value, scale);
  const unit = 10n ** BigInt(scale - reported.decimals);
  const sign = exact < 0n ? -1n : 1n;
  const [size, wanted] = [exact * sign, reported.digits * sign];
  const [down, rest] = [size / unit, size % unit];
  if (rest * 2n === unit) return wanted === down + 1n || (wanted === down && down % 2n === 0n);
  return wanted === (rest * 2n < unit ? down : down + 1n);
}

const UNITS = {
  proportion: `fraction proportion ratio 1 percent % pct percentage percentage-points pp permille ‰
    per-mille basis-points bp bps ppm`,
  time: `s sec second seconds ns nanosecond nanoseconds us µs μs microsecond microseconds ms msec
    millisecond milliseconds min minute minutes h hr hour hours d day days`,
  information: `B byte bytes bit bits kB KB kilobyte kilobytes MB megabyte megabytes GB gigabyte
    gigabytes TB terabyte terabytes KiB MiB GiB TiB`,
  length: 'm metre metres meter meters nm um µm μm mm cm km',
  mass: 'g gram grams ug µg μg mg kg',
  energy: 'J joule joules kJ MJ Wh kWh',
};
const KIND_OF_UNIT = new Map(Object.entries(UNITS)
  .flatMap(([kind, units]) => units.split(/\s+/).map((unit) => [unit, kind])));

export function kindOfUnit(text) {
  const unit = trimmed(text);
  const words = unit.length > 2 ? unit.toLowerCase().replaceAll(' ', '-') : unit;
  return KIND_OF_UNIT.get(unit) ?? KIND_OF_UNIT.get(words);
}

export function convert(a, b) {
  if (a === undefined || b === undefined || trimmed(a) === trimmed(b)) return true;
  const kind = kindOfUnit(a);
  return kind !== undefined && kind === kindOfUnit(b);
}

// Full case folding, but for what CaseFolding.txt leaves as it is or JavaScript as it was.
const FOLDED = { 'ı': 'ı', 'ẞ': 'ss' };
const fold = (character) => FOLDED[character] ?? character.toUpperCase().toLowerCase();

// What is compared of a category: NFC, no white space at the ends, no case.
export const category = (text) => Array.from(trimmed(text.normalize('NFC')), fold).join('');

class PatternError extends Error {}

// The names of the groups of a pattern, or undefined where it leaves the dialect.
export function groupNames(pattern) {
  const names = new Set();
  let at = 0;
  const fail = () => { throw new PatternError(`at ${at} of ${pattern}`); };
  const look = (expression) => {
    const sticky = new RegExp(expression, 'suy');
    sticky.lastIndex = at;
    return sticky.exec(pattern);
  };
  const take = (expression) => {
    const found = look(expression);
    at += found?.[0].length ?? 0;
    return found;
  };

  // Each part gives its length in characters; NaN is one that is not fixed.
  function branches(depth, behind) {
    const lengths = [];
    do lengths.push(branch(depth, behind)); while (take(/\|/));
    return lengths.every((length) => length === lengths[0]) ? lengths[0] : NaN;
  }
  function branch(depth, behind) {
    let length = 0;
    while (at < pattern.length && !look(/[|)]/)) {
      if (take(/(?:\^|\$|\\[bB])/)) continue;
      const around = take(/\(\?(<?)[=!]/);
      if (around) group(depth, behind || around[1] === '<', around[1] === '<');
      else length += atom(depth, behind) * quantifier(behind);
    }
    return length;
  }
  function group(depth, behind, fixed = false) {
    if (depth >= 64) fail();
    const length = branches(depth + 1, behind);
    if (!take(/\)/) || (fixed && Number.isNaN(length))) fail();
    return length;
  }
  function atom(depth, behind) {
    const named = take(/\(\?P<([A-Za-z_][A-Za-z0-9_]*)>/);
    if (named) {
      if (names.has(named[1])) fail();
      names.add(named[1]);
    }
    if (named || take(/\((?:\?:|(?!\?))/)) return group(depth, behind);
    if (take(/\[/)) members();
    else if (look(/\\/)) escape();
    else if (!take(/[^^$*+?()[\]{}|\\]/)) fail();
    return 1;
  }
  function quantifier(behind) {
    const found = take(/(?:[*+?]|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})\??/);
    if (!found) return 1;
    const [, least, comma, most] = found;
    const falls = most !== undefined && Number(most) < Number(least);
    if (Number(least) > 1000 || Number(most) > 1000 || falls) fail();
    const fixed = least !== undefined && !comma;
    if (behind && !fixed) fail();
    return fixed ? Number(least) : NaN;
  }
  // The code point of an escaped character, or undefined for a set of characters.
  function escape() {
    const found = take(/\\(?:([dDwWsS])|x([0-9a-fA-F]{2})|([nrtfv])|([!-/:-@[-`{-~ ]))/) ?? fail();
    const [, set, hexadecimal, control, itself] = found;
    if (set) return undefined;
    if (hexadecimal) return parseInt(hexadecimal, 16);
    return control ? '\t\n\v\f\r'.codePointAt('tnvfr'.indexOf(control)) : itself.codePointAt(0);
  }
  function member() {
    if (look(/\\/)) return escape();
    return (take(/[^[\]\\]/) ?? fail())[0].codePointAt(0);
  }
  function members() {
    take(/\^/);
    const start = at;
    do {
      const first = member();
      if (look(/-[^\]]/)) {
        take(/-/);
        const last = member();
        if (first === undefined || last === undefined || first > last) fail();
        take(/-(?!\])/);
      }
    } while (!look(/\]|$/));
    if (/--|&&|~~|\|\|/.test(pattern.slice(start, at))) fail();
    take(/\]/) ?? fail();
  }

  try {
    if ([...pattern].length > 4096) fail();
    take(/\(\?[ims]+\)/);
    branches(0, false);
    if (at < pattern.length) fail();
    return names;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return undefined;
  }
}
