import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { loadavg } from 'node:os';

const KEPT_OUTPUT = 4_096;
const MAX_LINE = 300;
const MAX_NAME = 120;
/** Last lines shown of a process. */
const LINES = { runs: 3, ended: 20 } as const;
/** Who ended longer ago is not shown. */
const RECENT_MS = 120_000;

interface Started {
  readonly name: string;
  readonly pid: number;
  output: string;
  end?: { readonly how: string; readonly at: number };
}

const started: Started[] = [];
/** That of tests may stand still. */
const clock = performance.now.bind(performance);

/** From now on remembers each process that this one starts, whoever starts it. @returns what ends that */
export function watchProcesses(): () => void {
  started.length = 0;
  const take = (message: unknown) => {
    const { process: child } = message as { readonly process: ChildProcess };
    // Its pipes are there once `spawn` has returned.
    queueMicrotask(() => remember(child));
  };
  subscribe('child_process', take);
  return () => unsubscribe('child_process', take);
}

/** The load of the machine, and the last lines of the processes that run or ended recently. */
export function describeProcesses(): string {
  const now = clock();
  const shown = started.filter(({ end }) => end === undefined || now - end.at < RECENT_MS);
  const load = loadavg().map((value) => value.toFixed(1));
  return [`load average ${load.join(', ')}`, ...shown.map((it) => describe(it, now))].join('\n');
}

function describe({ name, pid, output, end }: Started, now: number): string {
  const state = end === undefined ? 'runs' : `ended ${((now - end.at) / 1_000).toFixed(1)} s ago by ${end.how}`;
  const lines = output
    .trimEnd()
    .split('\n')
    .slice(-LINES[end === undefined ? 'runs' : 'ended']);
  const text = lines.filter((line) => line !== '').map((line) => `\n    ${line.slice(0, MAX_LINE)}`);
  return `process ${pid}, ${name}, ${state}${text.join('')}`;
}

function remember(child: ChildProcess): void {
  const { pid, stdout, stderr } = child;
  // One that nobody can read is a helper, such as the watchdog of a group.
  if (pid === undefined || (stdout === null && stderr === null)) return;
  const entry: Started = { name: nameOf(child.spawnargs), pid, output: '' };
  started.push(entry);
  const keep = (chunk: Buffer | string) => {
    entry.output = (entry.output + chunk.toString()).slice(-KEPT_OUTPUT);
  };
  // As a plain emitter: a stream's own `on` would let the output flow before its reader is there.
  for (const stream of [stdout, stderr]) if (stream) EventEmitter.prototype.on.call(stream, 'data', keep);
  child.once('exit', (code, signal) => {
    entry.end = { how: signal ?? `exit code ${code}`, at: clock() };
  });
}

/** What a shell runs for `spawnGuarded` has its name and command after the script. */
const nameOf = (args: readonly string[]): string =>
  (args[1] === '-c' && args.length > 3 ? args.slice(3) : args).join(' ').slice(0, MAX_NAME);
