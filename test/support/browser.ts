/** A person's browser on a page of the server: its session travels in the cookie, and every write is proven to be the page's. */
import { Api, type Call } from './api.ts';

export class Browser extends Api {
  /** What the cookie holds. */
  readonly secret: string;
  readonly csrf: string;

  constructor(url: string, secret: string, csrf: string, personId?: string) {
    super(url, undefined, personId);
    this.secret = secret;
    this.csrf = csrf;
  }

  /** The session as a bearer token, as the deprecated kind of sign-in hands it out. */
  get bearer(): Api {
    return new Api(this.url, this.secret, this.personId);
  }

  get cookie(): string {
    return `service_session_${new URL(this.url).port}=${this.secret}`;
  }

  /** `call.headers` replaces any of them; an empty value leaves one out. */
  override headers(call: Call): Record<string, string> {
    const all = {
      cookie: this.cookie,
      origin: this.url,
      'sec-fetch-site': 'same-origin',
      'x-service-csrf': this.csrf,
      ...super.headers(call),
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  }
}
