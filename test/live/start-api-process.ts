import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { startService } from '../../local/services/service-process.ts';

const SERVES = /^serves (\S+)$/m;

/**
 * Starts an API of a live market in a process of its own, which a test can kill. It ends with the test.
 *
 * @param chain its configuration, as JSON has it
 * @param prefix of what processes share
 */
export async function startApiProcess(
  { chain: { rpcUrl }, pools, deployment, packed }: Pick<LiveMarket, 'chain' | 'pools' | 'deployment' | 'packed'>,
  chain: object,
  prefix: string,
): Promise<{ readonly base: string; readonly kill: () => Promise<void> }> {
  const task = {
    chain,
    chainUrl: rpcUrl,
    pools: pools.map(({ address, layout }) => ({ address, layout })),
    deployments: { flat: deployment, packed },
    sharedBy: { redisUrl: inject('redisUrl'), prefix },
  };
  const service = await startService({
    name: 'api',
    command: process.execPath,
    args: ['--import', 'tsx', fileURLToPath(new URL('./api-process.ts', import.meta.url))],
    env: { ...process.env, API_PROCESS_TASK: JSON.stringify(task) },
    ready: SERVES,
  });
  onTestFinished(service.stop);
  const [, base = ''] = SERVES.exec(service.recentOutput()) ?? [];
  return { base, kill: service.kill };
}
