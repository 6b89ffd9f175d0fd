import { CAPTURE_CLASSES, type CaptureClass } from './read-schedule/pool-values.ts';

/** Work that is repeated; runs are independent of each other. */
export interface Job extends Pace {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** The job uses results of the others: its first run waits for theirs, but no longer than its shortest pause. */
  readonly afterOthers?: true;
}

export interface Pace {
  /** Shortest pause between two runs. After a long run, the pause is longer, until runs begin `maxPauseMs` apart. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
}

/** Longest pause of a job: no shown value is older than 15 s plus the time it takes to compute it. */
const MAX_PAUSE_MS = 15_000;

/** At least `secs` between two runs, longer after long ones. */
export const adaptive = (secs: number): Pace => ({ minPauseMs: secs * 1_000, maxPauseMs: MAX_PAUSE_MS });

/** As many seconds between two runs, however long they take. */
export const fixed = (secs: number): Pace => ({ minPauseMs: secs * 1_000, maxPauseMs: secs * 1_000 });

/** Makes the jobs of a chain from a table of them, by name. */
export const jobsOfChain = (
  chainId: number,
  table: Readonly<Record<string, { readonly pace: Pace; readonly run: () => Promise<unknown> }>>,
): Job[] => Object.entries(table).map(([name, { pace, run }]) => ({ name: `${name}-${chainId}`, run, ...pace }));

/**
 * Makes two jobs of each in a table: funded and remaining pools have separate jobs and nodes, so that neither the
 * number of remaining pools nor failures of their calls delay funded pools.
 */
export const jobsOfClasses = (
  chainId: number,
  table: Readonly<Record<string, { readonly pace: Pace; readonly run: (kind: CaptureClass) => Promise<unknown> }>>,
): Job[] =>
  CAPTURE_CLASSES.flatMap((kind) =>
    Object.entries(table).map(([name, { pace, run }]) => ({
      name: `${name}${kind === 'funded' ? '' : '-others'}-${chainId}`,
      run: () => run(kind),
      ...pace,
    })),
  );
