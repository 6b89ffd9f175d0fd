import { defineResource } from '../declaration/api-route.ts';
import { answerBidAsk, type QuotesDeps } from './bid-ask.ts';
import { answerBidAskBatch } from './bid-ask-batch.ts';
import { getBidAsk, getBidAskBatch } from './declaration.ts';

/** The bid/ask endpoints, single and batch. */
export const quotesResource = defineResource([getBidAskBatch, getBidAsk], (deps: QuotesDeps) => ({
  getBidAskBatch: answerBidAskBatch(deps),
  getBidAsk: answerBidAsk(deps),
}));
