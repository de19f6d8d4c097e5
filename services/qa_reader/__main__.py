"""`python -m services.qa_reader`: settings from CALIPER_QA_READER_... in the environment."""

import sys

from caliper.wiring.service_settings import QaReaderSettings
from caliper.wiring.startup import qa_reader, start

sys.exit(start(QaReaderSettings, qa_reader))
