import type { Hono } from 'hono';
import { createPoolTradingDataClient, type PoolTradingDataClient } from './http-client.ts';

/** The typed client of an app in this process; requests and answers are real, the socket between is left out. */
export function inProcessClient(app: Hono, apiKey?: string): PoolTradingDataClient {
  const fetch = async (request: Request) => app.fetch(request);
  return createPoolTradingDataClient('http://api.test', { fetch, ...(apiKey !== undefined && { apiKey }) });
}
