import { Agent, request } from 'node:http';

/** A request without the process that gets it; with a body it is posted. */
export interface LoadRequest {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TimedAnswer {
  /** Milliseconds from the request to the last byte of its answer. */
  readonly ms: number;
  readonly status: number;
  /** Of the body, as it was sent. */
  readonly bytes: number;
}

const connections = new Agent({ keepAlive: true });

export function timeRequest(
  url: string,
  { path, body, headers = {} }: LoadRequest,
  agent = connections,
): Promise<TimedAnswer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(`${url}${path}`, { agent, headers, method }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', reject).on('end', () => {
        resolve({ ms: performance.now() - startedAt, status: response.statusCode ?? 0, bytes });
      });
    });
    sent.on('error', reject).end(body);
  });
}
