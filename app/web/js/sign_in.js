// The dialog in which a player says who they are; the key in this browser is shown, kept and replaced here.

import { field } from "./checks_view.js";
import { recall, remember } from "./record.js";
import { BrowserKey, Extension, npub } from "./signer.js";

const PLAYER = "briscola-player";

/** The signer that was used last, without a question. */
export const lastSigner = () => load(recall(PLAYER)?.signer);

const load = async (kind) => (kind === "extension" ? Extension.load() : BrowserKey.load());

export class SignIn {
  #dialog = document.querySelector("#sign-in");
  #form = this.#dialog.querySelector("form");
  #onReady;

  /** @param {(player: {signer, username: string, level: string}) => Promise<void>} onReady throws what keeps it open */
  constructor(onReady) {
    this.#onReady = onReady;
    this.#dialog.querySelector(".close").addEventListener("click", () => this.#dialog.close());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#find("show-key").addEventListener("click", () => this.#try(() => this.#showSecret()));
    this.#find("import-key").addEventListener("click", () => this.#try(() => this.#adopt()));
    this.#find("key-details").addEventListener("toggle", () => this.#try(() => this.#showKey()));
  }

  open(level) {
    const { username, signer } = recall(PLAYER) ?? {};
    const { elements } = this.#form;
    if (username && !elements.username.value) elements.username.value = username;
    elements.level.value = level;
    const [extension] = elements.signer; // the radio buttons, in the page's order
    extension.disabled = !Extension.isThere;
    field(this.#form, "extension").textContent = Extension.isThere ? "" : "(none found)";
    elements.signer.value = Extension.isThere && signer !== "browser" ? "extension" : "browser";
    this.#fault("");
    this.#dialog.showModal();
    elements.username.focus();
  }

  async #submit() {
    const { username, signer: kind, level, deal } = this.#form.elements;
    if (deal.disabled) return;
    deal.disabled = true;
    this.#fault("");
    await this.#try(async () => {
      const player = { username: username.value.trim().normalize("NFC"), level: level.value };
      const signer = await load(kind.value);
      await this.#onReady({ ...player, signer });
      remember(PLAYER, { username: player.username, signer: kind.value });
      this.#dialog.close();
    });
    deal.disabled = false;
  }

  #showKey() {
    field(this.#form, "npub").textContent = npub(BrowserKey.load().pubkey);
    this.#hideSecret();
  }

  #showSecret() {
    const secret = this.#find("nsec");
    if (!secret.hidden) return this.#hideSecret();
    secret.textContent = BrowserKey.load().nsec;
    secret.hidden = false;
    this.#find("show-key").textContent = "Hide the secret key";
    return undefined;
  }

  #hideSecret() {
    this.#find("nsec").textContent = "";
    this.#find("nsec").hidden = true;
    this.#find("show-key").textContent = "Show the secret key";
  }

  #adopt() {
    const pasted = this.#find("import");
    BrowserKey.adopt(pasted.value);
    pasted.value = "";
    this.#showKey();
  }

  async #try(action) {
    try {
      this.#fault("");
      await action();
    } catch (error) {
      this.#fault(error.message);
    }
  }

  /** Say in the open dialog what is the matter; "" once nothing is. */
  trouble(text) {
    if (this.#dialog.open) this.#fault(text);
  }

  #fault(text) {
    const fault = field(this.#form, "fault");
    fault.textContent = text;
    fault.hidden = text === "";
  }

  #find(id) {
    return this.#dialog.querySelector(`#${id}`);
  }
}
