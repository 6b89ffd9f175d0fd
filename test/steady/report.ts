import type { Counts } from '../harness/count-reporter.ts';
import type { FileTime } from '../harness/slowest-files.ts';

/** What a run says of itself. */
export interface RunResult {
  readonly counts: Counts;
  readonly files: readonly FileTime[];
  readonly failures: readonly Failure[];
}

/** What did not pass: a test, or, with another name, what belongs to no test. */
export interface Failure {
  /** From the project's root; empty when no file is known. */
  readonly path: string;
  readonly test: string;
  readonly message: string;
}

export interface Run extends RunResult {
  /** Of the order of files, of tests of units, and of all that properties draw. */
  readonly seed: number;
  /** Beside other work. */
  readonly loaded: boolean;
  readonly ms: number;
}

const NAMED_FILES = 10;
const MAX_LINES = 12;

export const didFail = ({ counts, failures }: Run): boolean => counts.failed > 0 || failures.length > 0;

/** One line: `run 2, seed 7, beside load: 3641 passed, 1 failed, 412 s`. */
export function describeRun(run: Run, number: number): string {
  const { passed, failed } = run.counts;
  const seconds = Math.round(run.ms / 1_000);
  return `run ${number}, seed ${run.seed}, ${kindOf(run)}: ${passed} passed, ${failed} failed, ${seconds} s`;
}

/**
 * Each test that failed in any run, with the seeds of these runs and what the first of them said; then the ten files
 * that took longest, with the mean of their time and its share of the time of all files.
 */
export function describeRuns(runs: readonly Run[]): string {
  const failures = runs.flatMap((run) => run.failures.map((failure) => ({ ...failure, run })));
  const tests = [...Map.groupBy(failures, ({ path, test }) => `${path}: ${test}`)];
  const failed = tests.map(([name, all]) => {
    const seeds = all.map(({ run }) => `${run.seed} (${kindOf(run)})`).join(', ');
    const lines = (all[0]?.message ?? '').split('\n').slice(0, MAX_LINES);
    const { path = '', run } = all[0] ?? {};
    return [
      `${name}: ${all.length} of ${runs.length} runs, seed ${seeds}`,
      ...lines.map((line) => `    ${line}`),
      ...(path === '' || run === undefined ? [] : [`    Repeat: ${repeatCommand(path, run.seed)}`]),
    ].join('\n');
  });
  const count = runs.filter(didFail).length;
  return [`${count} of ${runs.length} runs failed`, ...failed, ...describeSlowest(runs)].join('\n');
}

const kindOf = ({ loaded }: Run): string => (loaded ? 'beside load' : 'calm');

const repeatCommand = (path: string, seed: number): string =>
  `PROPERTY_SEED=${seed} FILE_ORDER=${seed} npx vitest run ${path}`;

function describeSlowest(runs: readonly Run[]): string[] {
  const times = runs.flatMap(({ files }) => files);
  const whole = sum(times);
  const slowest = [...Map.groupBy(times, ({ path }) => path)]
    .map(([path, all]) => ({ path, total: sum(all), runs: all.length }))
    .toSorted((one, other) => other.total - one.total)
    .slice(0, NAMED_FILES);
  return slowest.length === 0
    ? []
    : [
        'Slowest files, and their share of the time of all:',
        ...slowest.map(({ path, total, runs: count }) => {
          const seconds = (total / count / 1_000).toFixed(1).padStart(6);
          return `${seconds} s  ${((100 * total) / whole).toFixed(1).padStart(4)}%  ${path}`;
        }),
      ];
}

const sum = (times: readonly FileTime[]): number => times.reduce((total, { ms }) => total + ms, 0);
