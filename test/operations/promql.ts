const STRINGS = /"(?:[^"\\]|\\.)*"/g;
const LABEL_LISTS = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;
const SELECTORS = /\{[^}]*\}/g;
const RANGES = /\[[^\]]*\]/g;
/** A name that is not called like a function. */
const NAMES = /(?<![\w:.])[a-zA-Z_:][\w:]*(?![\w:]*\s*\()/g;
const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/** Names of the metrics that a PromQL expression reads. */
export function metricsIn(expression: string): string[] {
  const bare = [STRINGS, LABEL_LISTS, SELECTORS, RANGES].reduce(
    (text, pattern) => text.replace(pattern, ' '),
    expression,
  );
  return [...new Set(bare.match(NAMES) ?? [])].filter((name) => !KEYWORDS.has(name.toLowerCase()));
}
