import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

/** Stops one part, for which a line of input stands; `later` sets its clock forward. Prints what happens. */
const SCRIPT = `
import { stopOnSignal } from '${new URL('./shutdown.ts', import.meta.url).href}';
const { now } = performance;
let aheadMs = 0;
performance.now = () => now.call(performance) + aheadMs;
const print = (word) => process.stdout.write(word + '\\n');
const stopped = Promise.withResolvers();
process.stdin.on('data', (line) => {
  if (line.toString() !== 'later\\n') return stopped.resolve();
  aheadMs = 1_001;
  print('later');
});
process.on('SIGTERM', () => print('signal'));
stopOnSignal({ info: () => undefined, error: print })('part', () => stopped.promise);
print('ready');
`;

/** A process that stops on signals. `says` waits for its next word. */
function stoppingProcess() {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const words = child.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  const says = async () => String((await words.next()).value).trim();
  const signal = async () => {
    child.kill('SIGTERM');
    return says();
  };
  return { says, signal, ended, tell: (line: string) => child.stdin.write(`${line}\n`) };
}

test('a signal that comes twice, as npm passes on what its group gets as well, is one', async () => {
  const { says, signal, ended, tell } = stoppingProcess();
  expect([await says(), await signal(), await signal()]).toEqual(['ready', 'signal', 'signal']);
  tell('stopped');
  expect(await ended).toBe(0);
});

test('a later one ends the process at once', async () => {
  const { says, signal, ended, tell } = stoppingProcess();
  expect([await says(), await signal()]).toEqual(['ready', 'signal']);
  tell('later');
  expect(await says()).toBe('later');
  await signal();
  expect(await ended).toBe(1);
});
