"""Writes a tiny language model of random weights: `python noise_model.py FILE`.

Runs in the environment of llama.cpp's server, which has the library for the format. Text is
bytes to it, so that any prompt fits its vocabulary. What it says depends on all that it was told
and means nothing. Like every model for chats it ends what it says: one dimension is the same for
all tokens, and through it letters, digits, quotation marks and the end are likelier than others.
"""

import string
import sys

import gguf
import numpy as np

WIDTH, HEADS, INNER, LAYERS = 32, 4, 64, 2
LONGEST = 16384
SPECIAL = ("<unk>", "<s>", "</s>")
UNKNOWN, BEGIN, END = range(3)
STEADY = 0.3
LIKELIER = 6.0
SHARP = 4.0


def main(file: str) -> None:
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name("noise")
    writer.add_context_length(LONGEST)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([*kinds, *[gguf.TokenType.BYTE] * 256])
    writer.add_bos_token_id(BEGIN)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(UNKNOWN)
    for name, values in tensors(len(tokens)).items():
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tensors(tokens: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray:
        return random.standard_normal(shape) / np.sqrt(shape[-1])

    said = [
        END,
        *(len(SPECIAL) + ord(sign) for sign in string.ascii_letters + string.digits + '"}'),
    ]
    words, out = drawn(tokens, WIDTH), drawn(tokens, WIDTH)
    words[:, 0], out[:, 0] = STEADY, 0.0
    out[said, 0] = LIKELIER
    out[said[-2:], 0] = out[END, 0] = 1.4 * LIKELIER
    found = {"token_embd": words, "output": out, "output_norm": np.ones(WIDTH)}
    for layer in range(LAYERS):
        block = {
            "attn_norm": np.ones(WIDTH),
            "ffn_norm": np.ones(WIDTH),
            "attn_q": SHARP * drawn(WIDTH, WIDTH),
            "attn_k": drawn(WIDTH, WIDTH),
            "attn_v": drawn(WIDTH, WIDTH),
            "attn_output": SHARP * drawn(WIDTH, WIDTH),
            "ffn_gate": drawn(INNER, WIDTH),
            "ffn_up": drawn(INNER, WIDTH),
            "ffn_down": drawn(WIDTH, INNER),
        }
        # The dimension that is the same for all tokens stays so, and decides nothing else.
        for into in ("attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"):
            block[into][:, 0] = 0.0
        block["attn_output"][0] = block["ffn_down"][0] = 0.0
        found |= {f"blk.{layer}.{name}": values for name, values in block.items()}
    return found


main(sys.argv[1])
