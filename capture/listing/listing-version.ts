import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { ChainsFile } from '../../config/chains-schema.ts';

/** The module that computes listed rows, with all that it imports of the project. */
const ENTRY = fileURLToPath(new URL('./refresh-listing.ts', import.meta.url));

/**
 * A digest of the code that computes listed rows and of what the chains file tells it: rows of another version are computed
 * anew. Comments and layout of the code do not count.
 */
export function listingVersion({ chains, tokens }: Pick<ChainsFile, 'chains' | 'tokens'>): string {
  const { outputFiles } = buildSync({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    legalComments: 'none',
  });
  const configured = chains.map(({ chainId, name, deployments }) => ({ chainId, name, deployments }));
  const hash = createHash('sha256').update(JSON.stringify([configured, tokens]));
  for (const { text } of outputFiles) hash.update(text);
  return hash.digest('hex').slice(0, 16);
}
