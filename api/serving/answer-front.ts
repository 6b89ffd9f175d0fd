import type { IncomingMessage, ServerResponse } from 'node:http';
import { bearerToken } from '../../runtime/bearer-token.ts';
import type { Front } from '../../runtime/http-server.ts';
import type { KeyIdentity, VerifyKey } from '../auth/authenticate.ts';
import { blockHeaders } from '../http/block-headers.ts';
import { addressBehind, triesAddressBehind } from '../http/client-address.ts';
import { bodyHeaders, cacheHeaders, isKnown, isSentZipped, VARY } from '../http/ready-body.ts';
import { EVERY_RESPONSE, REQUEST_ID_HEADER, requestName } from '../http/response-headers.ts';
import type { CountEarly } from '../limits/rate-limit.ts';
import type { ObserveRequest } from '../observability/http-metrics.ts';
import type { AnswerCache, KeptAnswer } from './answer-cache.ts';

const FIXED = Object.fromEntries(EVERY_RESPONSE);

export interface AnswerFrontDeps {
  readonly answers: AnswerCache;
  readonly verifyKey: VerifyKey;
  readonly trustedProxies: number;
  readonly count: CountEarly;
  readonly observe: ObserveRequest;
}

/**
 * Serves requests from the cache of responses, before the framework makes its own objects for them. They get here what
 * all requests get: an id, CORS, the key check, the limit, metrics. Unusual requests, and those to be rejected, are
 * left to the app.
 */
export function createAnswerFront(deps: AnswerFrontDeps): Front {
  const { answers } = deps;
  return (request, response, next) => {
    const answer = isUsual(request, deps.trustedProxies) ? answers.find(request.url ?? '') : undefined;
    if (!answer) return next();
    // Whatever fails here fails again in the app, which reports it.
    reuse(request, response, answer, deps).then(
      (isSent) => isSent || next(),
      () => next(),
    );
  };
}

/** A GET without anything that the app treats specially. */
function isUsual({ method, httpVersion, headers, rawHeaders }: IncomingMessage, trustedProxies: number): boolean {
  if (method !== 'GET' || httpVersion !== '1.1' || !/^[\w.-]+(?::\d+)?$/.test(headers.host ?? '')) return false;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  if (headers.upgrade !== undefined || headers.expect !== undefined) return false;
  // The app warns of a proxy that is not trusted.
  if (trustedProxies === 0 && headers['x-forwarded-for'] !== undefined) return false;
  // Of several keys, Node gives only the first here, but the app sees all.
  return headers.authorization === undefined || countHeaders(rawHeaders, 'authorization') === 1;
}

const countHeaders = (rawHeaders: readonly string[], name: string): number =>
  rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;

/** Sends a response from the cache. @returns false when nothing was sent, so that the app must respond */
async function reuse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: KeptAnswer,
  deps: AnswerFrontDeps,
): Promise<boolean> {
  const startedAt = performance.now();
  const { route, pattern, body, block, maxAgeSecs, isValid, onRequest } = answer;
  const { headers } = request;
  const isZipped = isSentZipped(body, headers['accept-encoding']?.toString());
  const hops = [request.socket.remoteAddress, headers['x-forwarded-for']?.toString(), deps.trustedProxies] as const;
  const address = () => addressBehind(...hops);
  const triesFrom = () => triesAddressBehind(...hops);
  const key = headers.authorization === undefined ? null : await identify(headers.authorization, triesFrom, deps);
  if (key === undefined) return false;
  const counted = await deps.count(request, route.limit, key, address);
  if (counted?.rejected) return false;
  const content = isZipped ? await body.zipped() : body.content;
  if (!isValid()) {
    deps.answers.remove(request.url ?? '', answer);
    return false;
  }
  onRequest?.(key !== null);
  const isRepeated = maxAgeSecs !== undefined && isKnown(body, headers['if-none-match']);
  const status = isRepeated ? 304 : 200;
  response.writeHead(status, {
    [REQUEST_ID_HEADER]: requestName(headers['x-request-id']?.toString()),
    ...FIXED,
    ...(block && blockHeaders(block)),
    ...counted?.headers,
    ...(isRepeated ? VARY : bodyHeaders(isZipped ? content.length : body.length, isZipped)),
    ...(maxAgeSecs !== undefined && cacheHeaders(body, maxAgeSecs)),
  });
  response.end(isRepeated ? undefined : content);
  deps.observe({ method: 'GET', route: pattern, status, startedAt });
  return true;
}

/** @returns undefined for a key that is not valid */
async function identify(
  authorization: string,
  client: () => string | null,
  { verifyKey }: Pick<AnswerFrontDeps, 'verifyKey'>,
): Promise<KeyIdentity | undefined> {
  const token = bearerToken(authorization);
  return (token === null ? null : await verifyKey(token, client)) ?? undefined;
}
