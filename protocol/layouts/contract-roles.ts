import { type AbiEvent, type Hex, toEventSelector } from 'viem';
import {
  anchoredProviderFactoryEvents,
  regularL2ProviderFactoryEvents,
  regularProviderFactoryEvents,
} from '../abi/providers.ts';
import { eventLayout } from './event-layouts.ts';
import { depositAllowlistEvents, swapAllowlistEvents } from './extension-events.ts';

/** What standard extensions do, by their keys in the chains file. */
export const EXTENSION_ROLES = ['stopLoss', 'priceVelocityGuard', 'depositAllowlist', 'swapAllowlist'] as const;

export type ExtensionRole = (typeof EXTENSION_ROLES)[number];

/** What factories of price providers make, as the index names it. */
export const PROVIDER_KINDS = ['anchored', 'regular', 'regular_l2'] as const;

export type ProviderKind = (typeof PROVIDER_KINDS)[number];

const topicsOf = (events: readonly AbiEvent[]) => events.map((event) => toEventSelector(event));

/** First topics of the events by which factories announce a provider, whose address is the second topic. */
export const PROVIDER_TOPICS: ReadonlyMap<Hex, ProviderKind> = new Map([
  [toEventSelector(anchoredProviderFactoryEvents[0]), 'anchored'],
  [toEventSelector(regularProviderFactoryEvents[0]), 'regular'],
  [toEventSelector(regularL2ProviderFactoryEvents[0]), 'regular_l2'],
]);

/**
 * Finds the role of an extension by its code: compilers write the first topic of an event into the code that logs it.
 * This shows what a contract claims to be, not that it does so: anybody can deploy such code.
 *
 * @returns null when the code logs all events of no role, or of several
 * @throws Error for a layout that this build does not know
 */
export function roleInCode(code: Hex, layout: string): ExtensionRole | null {
  const { stopLoss, priceVelocityGuard } = eventLayout(layout).abi;
  const events: Readonly<Record<ExtensionRole, readonly AbiEvent[]>> = {
    stopLoss,
    priceVelocityGuard,
    depositAllowlist: depositAllowlistEvents,
    swapAllowlist: swapAllowlistEvents,
  };
  const roles = EXTENSION_ROLES.filter((role) =>
    topicsOf(events[role]).every((topic) => code.includes(topic.slice(2))),
  );
  return roles.length === 1 ? (roles[0] ?? null) : null;
}
