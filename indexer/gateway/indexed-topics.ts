import { type AbiEvent, toEventSelector } from 'viem';
import { factoryEvents } from '../../protocol/abi/factory.ts';
import {
  anchoredProviderFactoryEvents,
  providerEvents,
  regularL2ProviderFactoryEvents,
  regularProviderFactoryEvents,
} from '../../protocol/abi/providers.ts';
import { v0FactoryEvents, v0PoolEvents } from '../../protocol/abi/v0.ts';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { depositAllowlistEvents, swapAllowlistEvents } from '../../protocol/layouts/extension-events.ts';

const events: readonly AbiEvent[] = [
  ...factoryEvents,
  ...Object.values(eventLayouts).flatMap(({ abi }): readonly AbiEvent[] => Object.values(abi).flat()),
  ...depositAllowlistEvents,
  ...swapAllowlistEvents,
  ...anchoredProviderFactoryEvents,
  ...regularProviderFactoryEvents,
  ...regularL2ProviderFactoryEvents,
  ...providerEvents,
  ...v0FactoryEvents,
  ...v0PoolEvents,
];

/** The first topics of all events in `ponder.config.ts`. Logs with any other first topic are not indexed. */
export const INDEXED_TOPICS: ReadonlySet<string> = new Set(events.map((event) => toEventSelector(event)));
