import { adaptersResource } from './adapters/adapters.ts';
import { chainsResource } from './chains/chains.ts';
import { type BoundRoute, bindRoutes, type Resource } from './declaration/api-route.ts';
import { statusResource } from './explorer/status.ts';
import { historyResource } from './history/history.ts';
import { levelsResource } from './levels/levels.ts';
import { rpcResource } from './levels/rpc.ts';
import { metadataResource } from './metadata/metadata.ts';
import { pammResource } from './pamm/pamm-quote.ts';
import { quotesResource } from './quotes/quotes.ts';
import { routeResource } from './route/route.ts';
import { streamResource } from './stream/stream.ts';
import { tradesResource } from './trades/trades.ts';
import { udfResource } from './udf/udf.ts';

/** The resources of all folders of endpoints. A new folder is one more line here. */
const RESOURCES = [
  chainsResource,
  metadataResource,
  quotesResource,
  levelsResource,
  rpcResource,
  streamResource,
  tradesResource,
  historyResource,
  udfResource,
  routeResource,
  pammResource,
  adaptersResource,
  statusResource,
] as const;

/** What the handlers need, all together. */
export type ResourceDeps = (typeof RESOURCES)[number] extends Resource<infer Deps> ? Deps : never;

/** Every endpoint's declaration. */
export const ROUTES = RESOURCES.flatMap(({ routes }) => routes);

/** Every endpoint. */
export const bindResources = (deps: ResourceDeps): BoundRoute[] =>
  RESOURCES.flatMap((resource: Resource<ResourceDeps>) => bindRoutes(resource, deps));
