import { LRUCache } from 'lru-cache';
import { type ApiRoute, routingPath } from '../declaration/api-route.ts';
import type { ReusableAnswer } from '../http/reusable.ts';

/** Memory for answers, compressed forms included. */
const MAX_BYTES = 64_000_000;

/** An answer and the endpoint that gave it. */
export interface KeptAnswer extends ReusableAnswer {
  readonly route: ApiRoute;
  /** Path of the route as metrics name it. */
  readonly pattern: string;
}

/** Keeps responses by the target of their request. When memory is full, the least recently requested leave. */
export class AnswerCache {
  readonly #answers = new LRUCache<string, KeptAnswer>({
    maxSize: MAX_BYTES,
    // Twice the body is more than body and compressed form take together, unless the body is almost empty.
    sizeCalculation: ({ body }, target) => 2 * body.length + target.length + 1_000,
  });

  /** Keeps a response if its target has canonical spelling, so that other spellings do not take memory. */
  keep(target: string, route: ApiRoute, answer: ReusableAnswer): void {
    if (isCanonical(target, route)) this.#answers.set(target, { ...answer, route, pattern: routingPath(route) });
  }

  find(target: string): KeptAnswer | undefined {
    return this.#answers.get(target);
  }

  remove(target: string, answer: KeptAnswer): void {
    if (this.#answers.peek(target) === answer) this.#answers.delete(target);
  }
}

/** Whether a target is lowercase and unescaped, with only declared parameters, in order and each at most once. */
function isCanonical(target: string, { request }: Pick<ApiRoute, 'request'>): boolean {
  const [, path = '', query] = /^([^?]*)(?:\?(.*))?$/.exec(target) ?? [];
  if (!/^[a-z0-9_/]+$/.test(path)) return false;
  const declared = Object.keys(request?.query?.shape ?? {});
  let before = -1;
  return (query === undefined ? [] : query.split('&')).every((pair) => {
    const [, name = '', value] = /^(\w+)=([\w.,-]*)$/.exec(pair) ?? [];
    const place = declared.indexOf(name);
    const isNext = value !== undefined && place > before;
    before = place;
    return isNext;
  });
}
