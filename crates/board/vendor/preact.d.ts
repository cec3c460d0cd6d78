// The part of the vendored module that the board uses.

export interface VNode {
  readonly type: unknown;
}
export type Shown = VNode | string | number | boolean | null | undefined | Shown[];

export interface Signal<T> {
  value: T;
  peek(): T;
  subscribe(told: (value: T) => void): () => void;
}
export interface Computed<T> {
  readonly value: T;
  peek(): T;
}

export function render(shown: Shown, place: Element): void;
export function html(parts: TemplateStringsArray, ...values: unknown[]): VNode;

export function useState<T>(first: T | (() => T)): [T, (next: T | ((was: T) => T)) => void];
export function useEffect(run: () => void | (() => void), of?: unknown[]): void;
export function useLayoutEffect(run: () => void | (() => void), of?: unknown[]): void;
export function useRef<T>(first: T): { current: T };
export function useMemo<T>(make: () => T, of: unknown[]): T;

export function signal<T>(first: T): Signal<T>;
export function computed<T>(of: () => T): Computed<T>;
export function effect(run: () => void | (() => void)): () => void;
export function batch<T>(run: () => T): T;
export function untracked<T>(run: () => T): T;
