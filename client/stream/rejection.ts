import { type ApiClientError, ConnectionError, responseError } from '../rest/errors.ts';

/**
 * Makes the error of a response. A 404 without the `error` that the service gives is of a proxy, such as during a
 * deployment, and is retried as its 502 is.
 */
export async function rejection(response: Response): Promise<ApiClientError> {
  const body = (await response.json().catch(() => null)) as { readonly error?: unknown } | null;
  if (response.status === 404 && !body?.error) return new ConnectionError('A proxy returned status 404');
  return responseError(response, body);
}
