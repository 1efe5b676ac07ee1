/// <reference lib="esnext.disposable" />

// What `disposal.js` adds to the classes, for TypeScript, which sees no method whose name is computed at run time.
// Published as it is, beside the declarations that are made of the sources.

/** Nothing of its own: whoever imports it has the declarations below. */
export type Using = "using" | "await using";

declare module "./client.js" {
  interface Client {
    [Symbol.asyncDispose](): Promise<void>;
    [Symbol.dispose](): void;
  }
}

declare module "./remote.js" {
  interface RemoteArray {
    [Symbol.dispose](): void;
  }
}

declare module "./stream.js" {
  interface RemoteStream {
    [Symbol.dispose](): void;
  }
}
