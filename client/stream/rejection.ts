import { type ApiClientError, ConnectionError, responseError } from '../rest/errors.ts';

/**
 * Makes the error of a response. A 404 without the `error` that the service gives is of a proxy, such as during a
 * deployment, and is retried as its 502 is.
 */
export async function rejection(response: Response): Promise<ApiClientError> {
  const body = (await response.json().catch(() => null)) as { readonly error?: unknown } | null;
  if (response.status === 404 && typeof body?.error !== 'string') {
    return new ConnectionError('The response 404 is not of the service');
  }
  return responseError(response, body);
}
