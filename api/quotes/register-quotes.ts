import type { OpenAPIHono } from '@hono/zod-openapi';
import { type QuotesDeps, registerBidAsk } from './bid-ask.ts';
import { registerBidAskBatch } from './bid-ask-batch.ts';

/** The bid/ask endpoints, single and batch. */
export function registerQuotes(app: OpenAPIHono, deps: QuotesDeps): void {
  registerBidAskBatch(app, deps);
  registerBidAsk(app, deps);
}
