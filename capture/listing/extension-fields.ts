import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { StoredRecord } from '../../db/listing/show-pool.ts';
import type { ExtensionPhase } from '../../protocol/pool-events.ts';
import type { ExtensionRow } from '../pools/extension-rows.ts';

const SWAP_PHASES: readonly ExtensionPhase[] = ['beforeSwap', 'afterSwap'];
/** The only phase in which the allowlist refuses anyone. */
const DEPOSIT_PHASE: ExtensionPhase = 'beforeAddLiquidity';

/** What a pool record says of the pool's extensions; the standard ones are known by their deployment's addresses. */
export function extensionFields(extensions: readonly ExtensionRow[], deployment: DeploymentConfig) {
  const find = (address: string | undefined) => extensions.find((extension) => extension.address === address);
  const stopLoss = find(deployment.stopLoss);
  const velocity = find(deployment.priceVelocityGuard);
  const depositAllowlist = find(deployment.depositAllowlist);
  const depositsRestricted =
    depositAllowlist?.phases.includes(DEPOSIT_PHASE) === true && depositAllowlist.allowAll !== true;
  return {
    depositWhitelistingEnabled: depositsRestricted,
    depositAllowlistProvider: depositsRestricted ? depositAllowlist.address : undefined,
    extensions: extensions.map(({ address }) => address),
    extensionDetails:
      stopLoss || velocity
        ? {
            stopLoss: stopLoss && stopLossDetails(stopLoss),
            priceVelocity: velocity && velocityDetails(velocity),
          }
        : undefined,
  } satisfies Partial<StoredRecord>;
}

function stopLossDetails({ drawdownE6, decayPerSecondE18, timelockSecs, phases }: ExtensionRow) {
  return {
    drawdownE6: textOrNull(drawdownE6),
    decayPerSecondE18: textOrNull(decayPerSecondE18),
    timelockSecs: textOrNull(timelockSecs),
    phases: swapPhases(phases),
  };
}

function velocityDetails({ maxChangePerBlockE18, phases }: ExtensionRow) {
  return { maxChangePerBlockE18: textOrNull(maxChangePerBlockE18), phases: swapPhases(phases) };
}

function swapPhases(phases: readonly ExtensionPhase[]): ExtensionPhase[] {
  return phases.filter((phase) => SWAP_PHASES.includes(phase));
}

function textOrNull(value: bigint | null): string | null {
  return value === null ? null : String(value);
}
