// The socket: connects, tries again when the connection is lost, takes messages apart.

export class Link {
  // on: { open, lost, and a function for each type of message }
  constructor(on, token) {
    this.on = on;
    this.token = token;
    this.wait = 300;
    this.tries = 0;         // in vain
    this.forbidden = false; // the server wants another token
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/socket${this.token ? `?token=${this.token}` : ""}`, "repose-view");
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => { this.wait = 300; this.tries = 0; this.forbidden = false; this.on.open(); };
    socket.onmessage = event => this.take(event.data);
    socket.onclose = async event => {
      this.tries++;
      this.on.lost(event.reason);
      // a socket does not tell why it was refused; a file does
      this.forbidden = await fetch("/icon.svg", { cache: "no-store" }).then(answer => answer.status === 403, () => false);
      if (this.forbidden) { this.wait = 20000; this.on.lost(); }
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(Math.max(this.wait, 3000), this.wait * 1.5);
    };
  }

  take(data) {
    if (typeof data === "string") {
      const message = JSON.parse(data);
      this.on[message.type]?.(message);
      return;
    }
    // a length, JSON of that length, and numbers that it describes
    const length = new DataView(data).getUint32(0, true);
    const message = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    message.bytes = data.byteLength;
    this.on[message.type]?.(message, data, 4 + length);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
      return true;
    }
    return false;
  }
}
