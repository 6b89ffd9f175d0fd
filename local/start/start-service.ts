import { rename } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { always } from '../processes/keep-running.ts';
import { readPorts } from '../processes/ports.ts';
import { openLogs } from '../processes/process-logs.ts';
import type { Progress } from '../processes/progress.ts';
import { startServiceProcesses } from '../processes/service-processes.ts';
import { writeShellSettings } from '../processes/shell-settings.ts';
import type { Supervisor } from '../processes/supervisor.ts';
import { checkChains } from './check-chains.ts';
import type { DataFolder } from './data-folder.ts';
import { issueFirstKey, QUEUE_PREFIX, startDatabase, startQueues } from './stores.ts';

/**
 * Starts the stores and every process of the service, each with its own login, and keeps them running. The API is up
 * when it listens: its index may still be filled. Shows what the chains file lacks, and a first key once.
 *
 * @param data locked; its next chains file becomes its chains file when that is right
 * @returns address of the API
 * @throws ConfigError the chains file is wrong, a node is not one of its chain, or those of a new chain do not answer
 * @throws StartError a process rejected its settings: its own line
 */
export async function startService(supervisor: Supervisor, progress: Progress, data: DataFolder): Promise<string> {
  const { env } = process;
  const ports = await readPorts(env, env.HOST || undefined);
  const logOf = await openLogs(data.logs, (line) => progress.print(`  ${line}`));
  const keepOf = (name: string) => ({
    rule: always,
    onEnd: (how: string, pauseMs: number) =>
      progress.print(`  ended  ${name.padEnd(18)} ${how}: starts again in ${pauseMs / 1_000} s`),
  });
  const checked = checkChains(data);
  checked.catch(() => undefined); // Awaited below: until then it must not count as unhandled.
  const database = await supervisor.start('postgres', () =>
    startDatabase(data, env.DATABASE_URL, keepOf('postgres'), logRecovery(logOf('postgres'), progress)),
  );
  const redis = await supervisor.start('redis', () =>
    startQueues(data, env.REDIS_URL, keepOf('redis'), logOf('redis')),
  );
  const { warnings, isSilent } = await supervisor.start('chains', () => checked);
  await rename(data.nextChains, data.chains);
  const shared = { CHAINS_CONFIG: data.chains, QUEUE_PREFIX };
  const ofCommands = {
    ...shared,
    REDIS_URL: redis.url,
    DATABASE_URL: database.urlFor('keys'),
    ANALYST_DATABASE_URL: database.urlFor('export'),
  };
  await writeShellSettings(data.settings, ofCommands);
  const envOf = (main: string) => ({
    ...shared,
    REDIS_URL: redis.urlFor(main),
    DATABASE_URL: database.urlFor(main),
    DATABASE_REPLICA_URL: '',
    // Clients reach the API alone.
    ...(main === 'api' && env.HOST ? { HOST: env.HOST } : {}),
  });
  const options = { ports, envOf, keepOf, logOf, isSilent, ready: '/health' } as const;
  const { url } = (await startServiceProcesses(supervisor, options)).api;
  for (const warning of warnings) progress.print(`  ${warning}`);
  progress.print(`\n  page  ${url}/\n  API   ${url}, documented at ${url}/docs\n  logs  ${data.logs}`);
  // Last: a start that fails would show none, and the next one finds it there.
  const firstKey = await issueFirstKey(database.url);
  if (firstKey !== null) progress.print(`  key   ${firstKey}   (of the Trading API; it is not shown again)`);
  return url;
}

/**
 * The log of Postgres. Every ten seconds Postgres prints for how long it has recovered what a crash left:
 * that is shown.
 */
const logRecovery = (log: NodeJS.WritableStream | undefined, progress: Progress): NodeJS.WritableStream =>
  new Writable({
    write: (lines: Buffer, _, done) => {
      log?.write(lines);
      const [, seconds] = /elapsed time: (\d+)/.exec(lines.toString()) ?? [];
      if (seconds !== undefined) progress.print(`  postgres recovers what a crash left: ${seconds} s`);
      done();
    },
  });
