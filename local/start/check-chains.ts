import { Writable } from 'node:stream';
import { z } from 'zod';
import { ConfigError } from '../../config/config-error.ts';
import { readWrittenChains } from '../../config/load-chains.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { rethrowAsLine } from '../processes/service-processes.ts';
import type { Part } from '../processes/supervisor.ts';
import { ownMain } from '../services/own-process.ts';
import { runToEnd } from '../services/service-process.ts';
import type { DataFolder } from './data-folder.ts';

/** What `npm run config:check -- --json` prints. */
const Report = z.object({
  findings: z.array(
    z.object({
      level: z.enum(['error', 'warning', 'note']),
      chainId: z.number().nullable(),
      url: z.string().nullable(),
      problem: z.string(),
      isSilent: z.literal(true).optional(),
    }),
  ),
});
type Finding = z.infer<typeof Report>['findings'][number];

export interface CheckedChains extends Part {
  /** A line each. */
  readonly warnings: readonly string[];
  /** Whether a chain has no node that answers. */
  readonly isSilent: boolean;
}

/**
 * Checks the next chains file and its nodes as `npm run config:check -- --rpc` does. A chain that was served before has
 * listings without its nodes: they may be silent.
 *
 * @throws ConfigError its errors, in one line; StartError, ServiceError there is no result
 */
export async function checkChains({ nextChains, chains }: DataFolder): Promise<CheckedChains> {
  const served = servedChains(chains);
  const findings = await findingsOf(nextChains);
  const silent = findings.filter(
    ({ level, isSilent, chainId }) => level === 'error' && isSilent && chainId !== null && served.includes(chainId),
  );
  const errors = findings.filter((finding) => finding.level === 'error' && !silent.includes(finding));
  if (errors.length > 0) throw new ConfigError(errors.map(lineOf).join('; '));
  const warnings = [...silent, ...findings.filter(({ level }) => level === 'warning')];
  return {
    warnings: warnings.map((finding) => `warning: ${lineOf(finding)}`),
    isSilent: silent.length > 0,
    note: warnings.length === 0 ? 'no warning' : 'see below',
    stop: async () => undefined,
  };
}

async function findingsOf(path: string): Promise<readonly Finding[]> {
  let output = '';
  const failure = await runToEnd({
    name: 'the check of the chains file',
    command: process.execPath,
    args: [...ownMain('config-check'), path, '--rpc', '--json'],
    cwd: PROJECT_ROOT,
    // The login of the database is ours to make.
    env: { ...process.env, DATABASE_URL: '' },
    output: new Writable({
      write: (chunk: Buffer, _, done) => {
        output += chunk.toString();
        done();
      },
    }),
  }).catch((error: unknown) => error);
  // A killed one may have printed half a line.
  const report = output
    .split('\n')
    .slice(0, -1)
    .find((line) => line.startsWith('{'));
  const findings = report === undefined ? [] : Report.parse(JSON.parse(report)).findings;
  // With errors the command fails as well.
  if (failure !== undefined && !findings.some(({ level }) => level === 'error')) rethrowAsLine(failure);
  return findings;
}

/** Ids of the chains of the last start: none before the first one. */
function servedChains(path: string): readonly number[] {
  try {
    return readWrittenChains(path, '--data').chains.map(({ chainId }) => chainId);
  } catch {
    return []; // An older release may have written a file that is wrong now.
  }
}

function lineOf({ chainId, url, problem }: Finding): string {
  return [...(chainId === null ? [] : [`chain ${chainId}${url === null ? '' : `, ${url}`}`]), problem].join(': ');
}
