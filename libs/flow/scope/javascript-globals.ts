// The global names of JavaScript and of Node that Flow does not have: `typeof` of one is not "undefined" there, so it is refused here.

const LANGUAGE = [
  'ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array DataView DisposableStack',
  'FinalizationRegistry Float16Array Float32Array Float64Array Function Int16Array Int32Array Int8Array Intl Iterator Proxy',
  'Reflect RegExp SharedArrayBuffer SuppressedError Symbol Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap',
  'WeakRef WeakSet escape eval globalThis unescape',
];

const NODE = [
  'AbortController AbortSignal Blob BroadcastChannel Buffer ByteLengthQueuingStrategy CloseEvent CompressionStream',
  'CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream Event EventTarget File FormData',
  'Headers MessageChannel MessageEvent MessagePort Navigator Performance PerformanceEntry PerformanceMark',
  'PerformanceMeasure PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming',
  'ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest',
  'ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder TextDecoderStream',
  'TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLPattern URLSearchParams',
  'WebAssembly WebSocket WritableStream WritableStreamDefaultController WritableStreamDefaultWriter atob btoa',
  'clearImmediate clearInterval clearTimeout fetch global navigator performance queueMicrotask setImmediate setInterval',
  'setTimeout',
];

export const JAVASCRIPT_GLOBALS: ReadonlySet<string> = new Set([...LANGUAGE, ...NODE].flatMap((line) => line.split(' ')));
