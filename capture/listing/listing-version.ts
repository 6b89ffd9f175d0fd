import { createHash } from 'node:crypto';
import type { ChainsFile } from '../../config/chains-schema.ts';
import logic from './logic-version.json';

/** The version of the code that computes listed rows and of what the chains file tells it: rows of another one are computed again. */
export function listingVersion({ chains, tokens }: Pick<ChainsFile, 'chains' | 'tokens'>): string {
  const configured = chains.map(({ chainId, name, deployments }) => ({ chainId, name, deployments }));
  const digest = createHash('sha256')
    .update(JSON.stringify([configured, tokens]))
    .digest('hex');
  return `${logic.version} ${digest.slice(0, 16)}`;
}
