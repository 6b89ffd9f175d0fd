import { createHash } from 'node:crypto';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { logicVersion } from '../../runtime/logic-version.ts';

/**
 * The version of the code that computes listed rows and of what the chains file tells it: rows of another one are computed again.
 *
 * @throws ConfigError when the code was changed and its author did not say whether its rows stay right
 */
export function listingVersion({ chains, tokens }: Pick<ChainsFile, 'chains' | 'tokens'>): string {
  const configured = chains.map(({ chainId, name, deployments }) => ({ chainId, name, deployments }));
  const digest = createHash('sha256')
    .update(JSON.stringify([configured, tokens]))
    .digest('hex');
  return `${logicVersion('listing')} ${digest.slice(0, 16)}`;
}
