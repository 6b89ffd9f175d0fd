import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { errorOrTextResponse, errorResponse, PammChainIdPath, textErrorResponse } from '../declaration/responses.ts';
import { EthereumBody } from './body-shape.ts';
import { ANSWER_EXAMPLE, UPDATE_EXAMPLE } from './examples.ts';

const Provider = z.object({
  provider: z.string().openapi({ description: 'Builder and endpoint: `<builder_id>:<endpoint_url>`.' }),
  accepted: z.boolean().describe('Whether the builder acknowledged the update.'),
  timestampNs: z
    .int()
    .optional()
    .openapi({ format: 'uint64', description: 'Acknowledgement time, Unix nanoseconds; when reported.' }),
  bundleHash: z.string().optional().describe('Hash of the accepted bundle; bundle builder only.'),
  pending: z.literal(true).optional().openapi({
    description:
      'True when the builder had not responded by the deadline; omitted otherwise. The update is still delivered.',
  }),
  error: z
    .string()
    .optional()
    .openapi({ description: 'Why it was not accepted; with `skipped:` at its start it was not submitted.' }),
});

export const PammQuoteResponse = z
  .object({
    accepted: z.boolean().describe('Whether a builder acknowledged the update by the deadline.'),
    providers: z.array(Provider).describe('One entry per builder.'),
  })
  .openapi('PammQuoteResponse', { description: "Each builder's result by the deadline." });

export const submitQuoteUpdate = {
  operationId: 'submitQuoteUpdate',
  method: 'post',
  path: '/public/v1/evm/{chain_id}/pamm-quote',
  limit: 'pamm',
  key: 'required',
  compress: true,
  tag: 'Quote updates',
  summary: 'Submit a signed quote update to block builders',
  description:
    'Needs a Trading API key. Always 200 once queued, even if no builder accepts: check `accepted`. The same ' +
    '`replacementUuid` with a higher `replacementSeqNumber` replaces a quote, and with `tx` = `0x` cancels it. A ' +
    '`replacementUuid` belongs to the key that first used it, also after a rotation, until it was unused for an hour: ' +
    'updates of other keys are skipped. On BSC the last three fields of the body are ignored. An acknowledgement is ' +
    'not inclusion.',
  request: {
    params: z.object({ chain_id: PammChainIdPath }),
    body: {
      schema: EthereumBody.openapi('PammQuoteBody', { description: 'A quote update. Unknown fields are dropped.' }),
      example: UPDATE_EXAMPLE,
    },
  },
  answer: { description: "Each builder's result by the deadline", schema: PammQuoteResponse, example: ANSWER_EXAMPLE },
  failures: {
    400: errorOrTextResponse('Another chain, or a value that is not allowed (JSON); malformed JSON (plain text)'),
    404: errorResponse('Unknown chain'),
    415: textErrorResponse('`Content-Type: application/json` is missing'),
    422: textErrorResponse('A field is missing or of the wrong type'),
    503: errorResponse('Submission is disabled or no builder is configured'),
  },
} as const satisfies ApiRoute;
