/**
 * Quotes as they change, over the first transport that connects: WebSocket, server-sent events, or batch requests.
 *
 * @module
 */
export {
  ApiClientError,
  BadRequestError,
  ConnectionError,
  NotFoundError,
  ResponseError,
  UnauthorizedError,
} from './rest/errors.ts';
export { type StreamOptions, stream } from './stream/stream.ts';
export type { Block, Quote, Stale, StreamState, TransportName } from './stream/types.ts';
export type { WebSocketConstructor, WebSocketLike } from './stream/web-socket.ts';
