import { createHash } from 'node:crypto';
import type { ChainsFile } from '../../config/chains-schema.ts';
import logic from './logic-version.json' with { type: 'json' };

/** Gives the version of the code and the settings that compute listed rows. Rows of another one are computed again. */
export function listingVersion({ chains, tokens }: Pick<ChainsFile, 'chains' | 'tokens'>): string {
  const configured = chains.map(({ chainId, name, deployments }) => ({ chainId, name, deployments }));
  const digest = createHash('sha256')
    .update(JSON.stringify([configured, tokens]))
    .digest('hex');
  return `${logic.version} ${digest.slice(0, 16)}`;
}
