/** As long as the API reads, and as long as a message of a WebSocket may be. */
const BODY_CHARS = 262_144;
const MESSAGE_CHARS = 65_536;

/** Repeats a text until all of it, between a beginning and an end, is nearly so long. */
function filled(size: number, begin: string, unit: string, end: string): string {
  return `${begin}${unit.repeat(Math.floor((size - begin.length - end.length) / unit.length))}${end}`;
}

/** A list of units: as many as fit, or as are given. */
function listed(size: number, unit: string, count = Math.floor((size - 20) / (unit.length + 1))): string {
  return `{"pools":[${Array(count).fill(unit).join()}]}`;
}

const keys = (count: number) => `{${Array.from({ length: count }, (_, n) => `"${n.toString(36)}":1`).join()}}`;
const deep = (size: number, open: string, close: string) => {
  const depth = Math.floor((size - 10) / (open.length + close.length));
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
};
/** Just above 2^53, so that integers are kept exact. */
const LARGE = '9007199254740993';

/** What takes parsers long, by kind: beyond the bounds of what is parsed, and just below them. */
function heavyTexts(size: number): Readonly<Record<string, readonly string[]>> {
  return {
    'deep nesting': [
      filled(size, '', '{"a":', ''),
      filled(size, '', '[', ''),
      deep(size, '{"a":', '}'),
      deep(size, '[', ']'),
      listed(size, deep(60, '[', ']')),
    ],
    'wide nesting': [
      ...['[]', '{}', '1', '{"a":1}', '"a"'].map((unit) => listed(size, unit)),
      ...['[]', '{}', '1', '"a"'].map((unit) => listed(size, unit, 3_000)),
      listed(size, '{"a":1}', 999),
      keys(6_000),
      keys(999),
    ],
    'long numbers': [
      filled(size, '{"blockNumber":', '9', '}'),
      filled(size, '{"blockNumber":0.', '9', '}'),
      listed(size, '9'.repeat(100)),
    ],
    'long escapes': [
      filled(size, '{"tx":"', '\\n', '"}'),
      filled(size, '{"tx":"', '\\u0041', '"}'),
      filled(size, '{"', '\\"', '":1}'),
      filled(size, `{"blockNumber":${LARGE},"tx":"`, '\\n', '"}'),
    ],
    'long spaces': [
      filled(size, '{"tx":', ' ', '1}'),
      filled(size, '', '\n', ''),
      filled(size, `{"blockNumber":${LARGE}`, ' ', '}'),
    ],
  };
}

export const HEAVY_BODIES = heavyTexts(BODY_CHARS);
export const HEAVY_MESSAGES: readonly string[] = Object.values(heavyTexts(MESSAGE_CHARS)).flat();
