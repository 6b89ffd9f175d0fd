import type { OpenAPIHono } from '@hono/zod-openapi';
import { registerChains } from './chains/chains.ts';
import { type MetadataDeps, registerMetadata } from './metadata/metadata.ts';
import type { QuotesDeps } from './quotes/bid-ask.ts';
import { registerQuotes } from './quotes/register-quotes.ts';
import { type RouteDeps, registerRoute } from './route/route.ts';

export type PublicDeps = MetadataDeps & QuotesDeps & RouteDeps;

/** The endpoints that need no key. */
export function registerPublicResources(app: OpenAPIHono, deps: PublicDeps): void {
  registerChains(app, deps.chains);
  registerMetadata(app, deps);
  registerQuotes(app, deps);
  registerRoute(app, deps);
}
