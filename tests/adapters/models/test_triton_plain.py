"""What a request/response model can be asked for, as its description says; no server is asked."""

import pytest

from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_metadata import ServedModel, Tensor
from caliper.adapters.models.triton_plain import PlainShape
from caliper.core.errors import BackendRejected
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Image

ADDRESS = TritonAddress("127.0.0.1:9", "captioner")


@pytest.mark.parametrize("pictures", [0, 2, 3])
async def test_other_numbers_of_pictures_than_a_model_takes_are_refused(pictures: int) -> None:
    places = {"image": 5 if pictures == 0 else 1, "prompt": 1}
    inputs = {name: Tensor(name, "BYTES", (size,)) for name, size in places.items()}
    outputs = {"caption": Tensor("caption", "BYTES", (1,))}
    served = ServedModel("captioner", "1", "1-a", inputs, outputs, decoupled=False, batch=8)
    client = TritonClient(ADDRESS, None, 1.0)
    shape = PlainShape(client, served, ADDRESS)
    shown = [Image(b"picture", "image/png")] * pictures
    with pytest.raises(
        BackendRejected, match=rf"takes {places['image']} picture.* this sample has"
    ):
        await shape.complete([ChatMessage("user", (*shown, "Describe it."))], Decoding(), None)
    await client.close()
