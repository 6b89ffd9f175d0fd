import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { ExtensionRow } from '../pools/extension-rows.ts';

/** Onchain decay is in 10^-8, the record's in 10^-18. */
const E18_PER_E8 = 10n ** 10n;

/** What a pool record says of the pool's extensions; the standard ones are known by their deployment's addresses. */
export function extensionFields(extensions: readonly ExtensionRow[], deployment: DeploymentConfig) {
  const find = (address: string | undefined) => extensions.find((extension) => extension.address === address);
  const stopLoss = find(deployment.stopLoss);
  const velocity = find(deployment.priceVelocityGuard);
  const depositAllowlist = find(deployment.depositAllowlist);
  const depositsRestricted = depositAllowlist !== undefined && depositAllowlist.allowAll !== true;
  return {
    depositWhitelistingEnabled: depositsRestricted,
    ...(depositsRestricted && { depositAllowlistProvider: depositAllowlist.address }),
    extensions: extensions.map(({ address }) => address),
    ...((stopLoss || velocity) && {
      extensionDetails: {
        ...(stopLoss && { stopLoss: stopLossDetails(stopLoss) }),
        ...(velocity && { priceVelocity: velocityDetails(velocity) }),
      },
    }),
  };
}

function stopLossDetails({ drawdownE6, decayPerSecondE8, timelockSecs, phases }: ExtensionRow) {
  return {
    drawdownE6: textOrNull(drawdownE6),
    decayPerSecondE18: textOrNull(decayPerSecondE8 === null ? null : decayPerSecondE8 * E18_PER_E8),
    timelockSecs: textOrNull(timelockSecs),
    phases,
  };
}

function velocityDetails({ maxChangePerBlockE18, phases }: ExtensionRow) {
  return { maxChangePerBlockE18: textOrNull(maxChangePerBlockE18), phases };
}

function textOrNull(value: bigint | null): string | null {
  return value === null ? null : String(value);
}
