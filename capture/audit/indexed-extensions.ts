import type { Address } from 'viem';
import { z } from 'zod';
import { HexAddress } from '../../config/scalars.ts';
import type { GuardRole } from '../../protocol/layout.ts';
import { parseJson } from '../../runtime/json.ts';
import { type FactName, type IndexedFact, type IndexedFacts, plainFact } from './facts.ts';

/** Settings of a pool at an allowlist that is one of its extensions, with the accounts that were set last. */
export interface AllowlistRow {
  readonly address: Address;
  readonly allowAll: boolean;
  readonly accounts: readonly Address[];
  /** Of each account. */
  readonly allowed: readonly boolean[];
}

/** Nothing for a pool without allowlists. */
export function indexedAllowlists(allowlists: readonly AllowlistRow[]): IndexedFacts {
  if (allowlists.length === 0) return {};
  const flags = (values: readonly boolean[]) => values.map(Number).join();
  return {
    allowAll: plainFact('allowAll', flags(allowlists.map(({ allowAll }) => allowAll))),
    allowedAccounts: plainFact('allowedAccounts', flags(allowlists.flatMap(({ allowed }) => allowed))),
  };
}

/** What no event has set is 0, as the contracts have it. */
const Setting = z
  .union([z.int(), z.bigint()])
  .nullish()
  .transform((value) => BigInt(value ?? 0));

/** Rows of `stop_loss` and `price_velocity`; the unit of a decay is that of the layout. */
const GuardRows = z.array(
  z.discriminatedUnion('role', [
    z.object({
      role: z.literal('stopLoss'),
      address: HexAddress,
      settings: z.object({
        drawdown_e6: Setting,
        decay_per_second_e8: Setting,
        decay_per_second_e18: Setting,
        timelock_secs: Setting,
      }),
    }),
    z.object({
      role: z.literal('priceVelocityGuard'),
      address: HexAddress,
      settings: z.object({ max_change_per_block_e18: Setting }),
    }),
  ]),
);
export type GuardRow = z.output<typeof GuardRows>[number];

/** Reads rows of guards of a pool from JSON. @throws an error when they are not such rows */
export const readGuardRows = (json: string): readonly GuardRow[] => GuardRows.parse(parseJson(json));

/** Of each kind of guard nothing for a pool without one. */
export function indexedGuards(guards: readonly GuardRow[]): IndexedFacts {
  const of = (role: GuardRole) => guards.filter((guard) => guard.role === role).map(settingsOf);
  const [stopLosses, velocityLimits] = [of('stopLoss'), of('priceVelocityGuard')];
  return {
    ...(stopLosses.length > 0 && { stopLossSettings: inferred('stopLossSettings', stopLosses) }),
    ...(velocityLimits.length > 0 && { velocityLimits: inferred('velocityLimits', velocityLimits) }),
  };
}

const inferred = (name: FactName, values: readonly string[]): IndexedFact => ({
  ...plainFact(name, values.join()),
  isInferred: true,
});

function settingsOf({ role, settings }: GuardRow): string {
  if (role === 'priceVelocityGuard') return String(settings.max_change_per_block_e18);
  // The other unit is of another layout.
  const decay = settings.decay_per_second_e8 + settings.decay_per_second_e18;
  return [settings.drawdown_e6, decay, settings.timelock_secs].join(' ');
}
