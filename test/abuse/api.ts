import { Writable } from 'node:stream';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';

export interface Memory {
  readonly heapUsed: number;
  readonly rss: number;
}

export interface AbusedApi {
  readonly port: number;
  readonly pid: number;
  /** Lines of its log that report a defect: anything above a warning, but for answers that say to come again. */
  readonly defects: readonly string[];
  /** Settles when it has ended, for whatever reason. */
  readonly ended: Promise<string>;
  /** What it holds after a garbage collection. */
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

const RETRY_LATER = 'Service temporarily unavailable';
const ERROR_LEVEL = 50;

/** For a machine that is busy with other tests. */
const LIMITS = { startTimeoutMs: 90_000, stopTimeoutMs: 30_000 };

/** Starts the API process behind one trusted proxy, which the tests play. */
export async function startAbusedApi(env: Readonly<Record<string, string>>): Promise<AbusedApi> {
  const output = new OutputLines();
  const api = await onFreePort(async (port) => {
    const settings = { ...env, PORT: String(port), HOST: '127.0.0.1', TRUSTED_PROXIES: '1', LOG_LEVEL: 'warn' };
    const ready = `http://127.0.0.1:${port}/health`;
    const main = 'abuse-api';
    const service = await startOwnProcess({ main, env: settings, ready, output, ...LIMITS });
    return { ...service, port };
  });
  return {
    port: api.port,
    pid: api.pid,
    defects: output.defects,
    ended: api.ended,
    stop: api.stop,
    memory: () => {
      const answer = output.nextMemory();
      process.kill(api.pid, 'SIGUSR2');
      return answer;
    },
  };
}

/** Reads what the process prints, line by line. */
class OutputLines extends Writable {
  readonly defects: string[] = [];
  #rest = '';
  #waiting: ((memory: Memory) => void)[] = [];

  nextMemory(): Promise<Memory> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const lines = (this.#rest + chunk.toString('utf8')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
    done();
  }

  #read(line: string): void {
    if (line.startsWith('memory ')) this.#waiting.shift()?.(JSON.parse(line.slice('memory '.length)));
    else if (isDefect(line)) this.defects.push(line);
  }
}

/** What is no line of the log was written by Node itself, about an uncaught error. */
function isDefect(line: string): boolean {
  if (!line.startsWith('{')) return line.trim() !== '';
  const { level, msg } = JSON.parse(line) as { level: number; msg: string };
  return level >= ERROR_LEVEL && msg !== RETRY_LATER;
}
