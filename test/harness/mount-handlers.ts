import type { Hono } from 'hono';
import type { BoundRoute } from '../../api/declaration/api-route.ts';
import { AnswerCache } from '../../api/serving/answer-cache.ts';
import { mountRoutes } from '../../api/serving/mount-routes.ts';

/** Mounts endpoints without counting their requests. */
export const mountHandlers = (app: Hono, routes: readonly BoundRoute[]): void =>
  mountRoutes(app, routes, () => (_c, next) => next(), new AnswerCache());
