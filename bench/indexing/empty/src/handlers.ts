import { type EventNames, ponder } from 'ponder:registry';
import config from '../../../../ponder.config.ts';

// Every event of the real indexer, decoded and handed over as to it, and nothing done with it.
for (const [source, { abi }] of Object.entries(config.contracts)) {
  for (const { name } of abi) ponder.on(`${source}:${name}` as EventNames, () => undefined);
}
