import { z } from 'zod';
import {
  HttpFailure,
  type HttpResponse,
  retryAfterMs as readRetryAfterMs,
  refusesAll,
  sendRequest,
} from '../../../runtime/http-request.ts';
import { stringifyJson } from '../../../runtime/json.ts';
import type { PushOutcome } from '../../submit/bundle/bundle-state.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import type { Hex, QuoteUpdate } from '../../submit/quote-update.ts';
import { describeRpcError, RpcError } from '../builder-text.ts';

const ALREADY_HELD_CODE = -38000;
const ALREADY_HELD_TEXT = /already\s+(known|exist)/i;

/** At most 32 bytes: it is stored, and passed on to clients. */
const hash = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value));
const RpcResponse = z.union([RpcError, z.object({ result: z.union([hash, z.object({ bundleHash: hash })]) })]);

/**
 * Sends an update as a bundle placed first in the block and reads the builder's verdict. It never throws: a failure of
 * the request is an outcome, too.
 *
 * @param timeoutMs how long the builder may take, above 0
 */
export async function sendBundle(endpoint: Endpoint, update: QuoteUpdate, timeoutMs: number): Promise<PushOutcome> {
  const headers = endpoint.apiKey ? { Authorization: endpoint.apiKey } : {};
  try {
    return readVerdict(await sendRequest(endpoint.url, { body: bundleRequest(update), headers, timeoutMs }));
  } catch (error) {
    return failed(describeTransportError(error));
  }
}

function bundleRequest(update: QuoteUpdate): string {
  const bundle = {
    txs: [update.tx],
    maxBlockNumber: update.blockNumber,
    maxTimestamp: update.maxTimestamp,
    positionFirst: true,
  };
  return stringifyJson({ jsonrpc: '2.0', id: 1, method: 'eth_sendBundle', params: [bundle] });
}

function readVerdict({ status, headers, text }: HttpResponse): PushOutcome {
  // A redirect is not followed: the key must not go to wherever the builder's host points.
  if (status >= 300 && status < 400) return failed('transport error: connection failed');
  if (refusesAll(status)) {
    return failed(`the builder answered with HTTP ${status}`, readRetryAfterMs(headers));
  }
  const parsed = RpcResponse.safeParse(parseOrNull(text));
  if (!parsed.success) {
    return status >= 400
      ? rejected(`the builder answered with HTTP ${status}`)
      : failed('the builder answered with something that is no JSON-RPC response');
  }
  if ('error' in parsed.data) return readError(parsed.data.error);
  const { result } = parsed.data;
  return {
    kind: 'accepted',
    answer: { accepted: true, bundleHash: typeof result === 'string' ? result : result.bundleHash },
  };
}

function readError(error: z.infer<typeof RpcError>['error']): PushOutcome {
  if (error.code === ALREADY_HELD_CODE || ALREADY_HELD_TEXT.test(error.message))
    return { kind: 'accepted', answer: { accepted: true } };
  return rejected(describeRpcError(error));
}

const rejected = (error: string): PushOutcome => ({ kind: 'rejected', answer: { accepted: false, error } });

const failed = (error: string, retryAfterMs?: number): PushOutcome => ({
  kind: 'failed',
  answer: { accepted: false, error },
  retryAfterMs,
});

/** Describes a failed request without its headers and key. */
function describeTransportError(error: unknown): string {
  if (error instanceof HttpFailure && error.code === 'timeout') return 'the builder did not answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'connection failed';
  return `transport error: ${code}`;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
