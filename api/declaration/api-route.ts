import type { z } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import type { LimitClass } from '../../config/limits-schema.ts';
import type { ADAPTERS_PREFIX, PUBLIC_PREFIX, RPC_PREFIX } from '../request.ts';
import type { Failures } from './responses.ts';

/**
 * Declares an endpoint, all but its handler. The app derives the endpoint's middleware from it, and the OpenAPI
 * document its operation.
 */
export type ApiRoute = {
  /** Name of the operation, by which its resource finds the handler. */
  readonly operationId: string;
  readonly method: 'get' | 'post';
  /** With parameters as `{name}`. */
  readonly path: `${typeof PUBLIC_PREFIX | typeof RPC_PREFIX | typeof ADAPTERS_PREFIX}${string}`;
  /** The class whose quota its requests count in. */
  readonly limit: LimitClass;
  /** Use of a Trading API key: `required` (401 without it), `optional` (it raises the limit), `none`. */
  readonly key: 'required' | 'optional' | 'none';
  /** Heading in the document under which it stands. */
  readonly tag: 'Listing' | 'Quotes' | 'Charts' | 'Routing' | 'Quote updates' | 'Listing sites' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly request?: {
    readonly params?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly body?: Example;
  };
  /** The response 200. `headers` describes headers that only this endpoint has. */
  readonly answer: Example & { readonly description: string; readonly headers?: z.ZodObject };
  /** The response of 200 is a stream of events. */
  readonly streams?: true;
  /** Whether the app compresses a long response. If not, responses are always short or the handler compresses them. */
  readonly compress?: boolean;
  /** Responses besides 200 and the failures that all endpoints share. */
  readonly failures?: Failures;
};

/** A schema and a value of it, as JSON. Parameters have their examples in their schemas. */
type Example = { readonly schema: z.ZodType; readonly example: unknown };

/** The endpoints of one folder, and how their handlers are made. */
export type Resource<Deps> = {
  readonly routes: readonly ApiRoute[];
  readonly handlers: (deps: Deps) => Readonly<Record<string, Handler>>;
};

/** @param handlers by operation id, one for each of the routes */
export function defineResource<const Routes extends readonly ApiRoute[], Deps>(
  routes: Routes,
  handlers: (deps: Deps) => Readonly<Record<Routes[number]['operationId'], Handler>>,
): Resource<Deps> {
  return { routes, handlers };
}

/** An endpoint that can answer. */
export type BoundRoute = { readonly route: ApiRoute; readonly handler: Handler };

/** The endpoints of a resource with what their handlers need. */
export function bindRoutes<Deps>({ routes, handlers }: Resource<Deps>, deps: Deps): BoundRoute[] {
  const byId = handlers(deps);
  return routes.map((route) => ({ route, handler: byId[route.operationId] as Handler }));
}

/** The path as Hono writes it. */
export const routingPath = ({ path }: Pick<ApiRoute, 'path'>): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
