/**
 * A typed call for each operation of the API. Integers beyond 2^53 - 1 are bigints.
 *
 * @module
 */
export type { AllPools, AllPoolsRequest } from './rest/all-pools.ts';
export type { Operations } from './rest/calls.ts';
export {
  ApiClientError,
  BadRequestError,
  ConnectionError,
  DeadlineError,
  type ErrorDetails,
  NotFoundError,
  RateLimitError,
  ResponseError,
  ServiceError,
  UnauthorizedError,
  UnprocessableError,
} from './rest/errors.ts';
export { createRestClient, type RestClient, type RestClientOptions } from './rest/rest-client.ts';
export type { CallOptions, OperationId, RequestOf, ResponseOf, Schemas } from './rest/types.ts';
