/** A place in Ponder's code that is read differently from how it is written. */
export interface Mend {
  /** End of the file's URL. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** How often `find` comes: any other number means that Ponder has changed there. */
  readonly times: number;
}

/** Defects of Ponder 0.16.10 that lose data, or show secrets. */
export const MENDS: readonly Mend[] = [
  {
    // A factory is listed once per event of its children, and each further mention takes back what the first one noted
    // of new children. So those found while following the chain never reach the store: after a restart, or in an index
    // built anew from the store, their events are not seen. Nor does a reorganisation take them back.
    file: '/ponder/dist/esm/sync-realtime/index.js',
    find: 'factories.push(factory);',
    replace: 'if (!factories.includes(factory)) factories.push(factory);',
    times: 1,
  },
  {
    // A database that crashes loses commits of the last moments, which Ponder, if it outlives the crash, believes done.
    file: '/ponder/dist/esm/utils/pg.js',
    find: 'SET synchronous_commit = off;',
    replace: 'SET synchronous_commit = on;',
    times: 2,
  },
  {
    file: '/ponder/dist/esm/internal/logger.js',
    find: 'from "pino"',
    replace: `from "${new URL('./ponder-pino.ts', import.meta.url).href}"`,
    times: 1,
  },
];

/** The mended source of a module; null when nothing is to be mended. @throws Error when Ponder has changed there */
export function mendSource(url: string, source: string, mends: readonly Mend[] = MENDS): string | null {
  const mend = mends.find(({ file }) => url.endsWith(file));
  if (mend === undefined) return null;
  const parts = source.split(mend.find);
  if (parts.length !== mend.times + 1) {
    throw new Error(`${mend.file} has "${mend.find}" ${parts.length - 1} times: Ponder has changed, look at its mends`);
  }
  return parts.join(mend.replace);
}
